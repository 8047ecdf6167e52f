// Checks the parsed JSON of a config file against a zod schema, which is made from the table of settings. The published
// JSON Schema (schema/config.schema.json) is made from it, too, so that editors and the program agree.
import * as z from 'zod/mini';
import { type Kind, TEXT } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { describeExpected, SETTINGS } from './table.ts';

const FILE_SETTINGS = SETTINGS.filter(({ inFile }) => inFile);

/** Exported for the script that generates the JSON Schema. */
export function createConfigSchema() {
  const members = FILE_SETTINGS.map(({ name, kind }) => [name, createMemberSchema(kind)] as const);
  // In a profile, `null` unsets a setting of the top level. `profile` would be useless there.
  const profileMembers = FILE_SETTINGS.filter(({ name }) => name !== 'profile').map(({ name, kind }) => [
    name,
    createMemberSchema(kind, true),
  ]);
  const profileSchema = z.strictObject(Object.fromEntries(profileMembers), 'must be an object');
  return z.strictObject({
    $schema: createMemberSchema(TEXT),
    ...Object.fromEntries(members),
    profiles: z.optional(z.record(z.string(), profileSchema, 'must be an object')),
  });
}

function createMemberSchema(kind: Kind<unknown>, mayBeNull = false): z.ZodMiniType {
  const value = createValueSchema(kind, `must be ${describeExpected(kind)}`);
  return z.optional(mayBeNull ? z.nullable(value) : value);
}

function createValueSchema(
  { json, bounds, pattern, choices, members = {} }: Kind<unknown>,
  fault: string,
): z.ZodMiniType {
  switch (json) {
    case 'boolean':
      return z.boolean(fault);
    case 'integer':
      return z.int(fault).check(z.minimum(bounds?.min ?? 0, fault), z.maximum(bounds?.max ?? Infinity, fault));
    case 'string array':
      // The only array is `apiKeyCommand`, which has at least the program.
      return z.array(z.string(fault), fault).check(z.minLength(1, fault));
    case 'string map':
      return z.record(z.string(), z.string(fault), fault);
    case 'object': {
      const schemas = Object.entries(members).map(([name, kind]) => [name, createMemberSchema(kind)] as const);
      return z.strictObject(Object.fromEntries(schemas), fault);
    }
    default:
      // `parseSettings` checks strings more strictly later.
      if (choices !== undefined) return z.enum(choices, fault);
      return pattern === undefined ? z.string(fault) : z.string(fault).check(z.regex(pattern, fault));
  }
}

/**
 * The reason has the path of the member (`profiles.work.jobs`) and the reason, but never a value, which may be a
 * secret.
 */
export function findConfigFault(config: unknown) {
  const issue = createConfigSchema().safeParse(config).error?.issues[0];
  if (issue === undefined) return undefined;
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return { reason: `${path.join('.')}: ${issue.message}` };
  const [unknown = ''] = issue.keys;
  return { reason: `${[...path, unknown].join('.')}: no such setting`, hint: didYouMean(unknown, listNamesAt(path)) };
}

/** This is only for a suggestion, so it does not matter that a profile may itself be named `listing`. */
function listNamesAt(path: readonly string[]): readonly string[] {
  const parent = FILE_SETTINGS.find(({ name }) => name === path.at(-1));
  if (parent?.kind.members) return Object.keys(parent.kind.members);
  const names = FILE_SETTINGS.map(({ name }) => name);
  return path.length === 0 ? [...names, '$schema', 'profiles'] : names.filter((name) => name !== 'profile');
}
