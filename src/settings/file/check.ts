import * as z from 'zod/mini';
import { DURATION, type Kind } from '../../spec/kind.ts';
import { didYouMean, nearest } from '../../spec/nearest.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS } from '../table.ts';

export interface ConfigFault {
  /** The key's path: `profiles.work.jobs`. */
  readonly at: string;
  readonly why: string;
  readonly hint?: string;
}

/** The config file as a zod schema, made from the settings' records; JSON Schema is made from this one. */
export function configSchema() {
  const members = SETTINGS.filter((spec) => spec.inFile).map(({ key, kind }) => [key, memberSchema(kind)] as const);
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
    case 'recipe':
      return z.strictObject(
        Object.fromEntries(Object.entries(RECIPE_MEMBERS).map(([name, kind]) => [name, memberSchema(kind)])),
      );
    default:
      if (choices !== undefined) return z.enum(choices);
      return form === undefined ? z.string() : z.string().check(z.regex(form));
  }
}

/** The first fault of a config file, in words that never quote a value; none of the ignored settings', even misspelt. */
export function findConfigFault(config: unknown, ignored: ReadonlySet<string> = new Set()): ConfigFault | undefined {
  for (const issue of configSchema().safeParse(config).error?.issues ?? []) {
    const path = issue.path.map(String);
    const setting = path[0] === 'profiles' ? path[2] : path[0];
    if (setting !== undefined && ignored.has(setting)) continue;
    if (issue.code !== 'unrecognized_keys')
      return { at: path.join('.') || 'the file', why: `must be ${wantedAt(path)}` };
    const unknown = issue.keys.find((key) => !ignored.has(nearest(key, knownAt(path)) ?? ''));
    if (unknown === undefined) continue;
    const hint = didYouMean(unknown, knownAt(path));
    return { at: [...path, unknown].join('.'), why: 'no such setting', ...(hint !== undefined && { hint }) };
  }
  return undefined;
}

/** The keys of the object at a path. */
function knownAt(path: readonly string[]): readonly string[] {
  const keys = SETTINGS.filter((spec) => spec.inFile).map((spec) => spec.key);
  if (path.at(-1) === 'jwt') return Object.keys(RECIPE_MEMBERS);
  return path.length === 0 ? [...keys, '$schema', 'profiles'] : keys.filter((key) => key !== 'profile');
}

function wantedAt(path: readonly string[]): string {
  const [top, , inner] = path;
  const rest = top === 'profiles' ? path.slice(2) : path;
  if (top === 'profiles' && inner === undefined) return 'an object';
  if (rest[0] === 'jwt' && rest.length > 1) return rest[1] === 'lifetime' ? DURATION.wanted : 'a text in quotes';
  const spec = SETTINGS.find(({ key }) => key === rest[0]);
  return spec === undefined ? 'a text in quotes' : wantedInFile(spec);
}

/** What a setting must be in the config file. */
export function wantedInFile({ kind }: NamedSetting): string {
  if (kind.completes === 'file') return 'a path in quotes';
  return kind.json === 'boolean' ? 'true or false' : kind.wanted;
}
