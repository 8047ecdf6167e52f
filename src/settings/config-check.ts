import * as z from 'zod/mini';
import { DURATION, type Kind } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { RECIPE_MEMBERS, SETTINGS, wantedInFile } from './table.ts';

const inFile = SETTINGS.filter((spec) => spec.inFile);

/** The config file as a zod schema, made from the settings' records; JSON Schema is made from this one. */
export function configSchema() {
  const members = inFile.map(({ key, kind }) => [key, memberSchema(kind)] as const);
  const inProfile = members.filter(([key]) => key !== 'profile');
  return z.strictObject({
    $schema: z.optional(z.string()),
    ...Object.fromEntries(members),
    profiles: z.optional(z.record(z.string(), z.strictObject(Object.fromEntries(inProfile)))),
  });
}

function memberSchema(kind: Kind<unknown>): z.ZodMiniType {
  return z.optional(valueSchema(kind));
}

function valueSchema({ json, range: [least, most] = [0, Number.MAX_SAFE_INTEGER], form, choices }: Kind<unknown>) {
  switch (json) {
    case 'boolean':
      return z.boolean();
    case 'integer':
      return z.int().check(z.minimum(least), z.maximum(most));
    case 'words':
      return z.array(z.string()).check(z.minLength(1));
    case 'recipe': {
      const members = Object.entries(RECIPE_MEMBERS).map(([name, kind]) => [name, memberSchema(kind)] as const);
      return z.strictObject(Object.fromEntries(members));
    }
    default:
      if (choices !== undefined) return z.enum(choices);
      return form === undefined ? z.string() : z.string().check(z.regex(form));
  }
}

/** The first fault of a config file: the key's path, `profiles.work.jobs`, and why, in words that never quote a value. */
export function findConfigFault(config: unknown) {
  const issue = configSchema().safeParse(config).error?.issues[0];
  if (issue === undefined) return undefined;
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return { message: `${path.join('.')}: must be ${wantedAt(path)}` };
  const [unknown = ''] = issue.keys;
  return { message: `${[...path, unknown].join('.')}: no such setting`, hint: didYouMean(unknown, knownAt(path)) };
}

/** The keys of the object at a path. */
function knownAt(path: readonly string[]): readonly string[] {
  if (path.at(-1) === 'jwt') return Object.keys(RECIPE_MEMBERS);
  const keys = inFile.map(({ key }) => key);
  return path.length === 0 ? [...keys, '$schema', 'profiles'] : keys.filter((key) => key !== 'profile');
}

function wantedAt(path: readonly string[]): string {
  const [key, member] = path[0] === 'profiles' ? path.slice(2) : path;
  if (key === undefined) return 'an object';
  if (member !== undefined && key === 'jwt') return member === 'lifetime' ? DURATION.wanted : 'a text in quotes';
  const spec = SETTINGS.find((setting) => setting.key === key);
  return spec === undefined ? 'a text in quotes' : wantedInFile(spec);
}
