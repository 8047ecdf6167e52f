// Checks the members of a config file with a zod schema that is made from the table of settings. The published JSON
// Schema is made from the same schema. Takes the parsed JSON, and gives the first fault.
import * as z from 'zod/mini';
import { type Kind, TEXT } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { expectedInFile, SETTINGS } from './table.ts';

const inFile = SETTINGS.filter((spec) => spec.inFile);

/** Returns the schema of a config file. */
export function configSchema() {
  const members = inFile.map(({ key, kind }) => [key, memberSchema(kind)] as const);
  // In a profile, `null` unsets a setting of the top level.
  const overrides = inFile
    .filter(({ key }) => key !== 'profile')
    .map(({ key, kind }) => [key, memberSchema(kind, true)]);
  const profile = z.strictObject(Object.fromEntries(overrides), 'must be an object');
  return z.strictObject({
    $schema: memberSchema(TEXT),
    ...Object.fromEntries(members),
    profiles: z.optional(z.record(z.string(), profile, 'must be an object')),
  });
}

function memberSchema(kind: Kind<unknown>, mayBeNull = false): z.ZodMiniType {
  const value = valueSchema(kind, `must be ${expectedInFile(kind)}`);
  return z.optional(mayBeNull ? z.nullable(value) : value);
}

function valueSchema({ json, range, form, choices, members = {} }: Kind<unknown>, fault: string): z.ZodMiniType {
  switch (json) {
    case 'boolean':
      return z.boolean(fault);
    case 'integer':
      return z.int(fault).check(z.minimum(range?.[0] ?? 0, fault), z.maximum(range?.[1] ?? Infinity, fault));
    case 'words':
      return z.array(z.string(fault), fault).check(z.minLength(1, fault));
    case 'texts':
      return z.record(z.string(), z.string(fault), fault);
    case 'object': {
      const schemas = Object.entries(members).map(([name, kind]) => [name, memberSchema(kind)] as const);
      return z.strictObject(Object.fromEntries(schemas), fault);
    }
    default:
      if (choices !== undefined) return z.enum(choices, fault);
      return form === undefined ? z.string(fault) : z.string(fault).check(z.regex(form, fault));
  }
}

/**
 * Returns the first fault, or undefined: the path of the key, such as `profiles.work.jobs`, and the reason. The message
 * never quotes a value, because the value may be a secret.
 */
export function findConfigFault(config: unknown) {
  const issue = configSchema().safeParse(config).error?.issues[0];
  if (issue === undefined) return undefined;
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return { message: `${path.join('.')}: ${issue.message}` };
  const [unknown = ''] = issue.keys;
  return { message: `${[...path, unknown].join('.')}: no such setting`, hint: didYouMean(unknown, knownKeysAt(path)) };
}

function knownKeysAt(path: readonly string[]): readonly string[] {
  const parent = inFile.find(({ key }) => key === path.at(-1));
  if (parent?.kind.members) return Object.keys(parent.kind.members);
  const keys = inFile.map(({ key }) => key);
  return path.length === 0 ? [...keys, '$schema', 'profiles'] : keys.filter((key) => key !== 'profile');
}
