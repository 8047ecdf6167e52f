import { DURATION } from '../../spec/kind.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS } from '../table.ts';

/** What zod found; nothing of the value itself. */
interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

interface ConfigFault {
  /** The key's path: `profiles.work.jobs`. */
  readonly at: string;
  readonly why: string;
  readonly hint?: string;
}

const RECIPE_KEYS = Object.keys(RECIPE_MEMBERS);

/** A fault of the config file in words that never quote a value. */
export function faultOf(issue: Issue): ConfigFault {
  const path = issue.path.map(String);
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined;
  if (unknown === undefined) return { at: path.join('.') || 'the file', why: `must be ${wantedAt(path)}` };
  const hint = didYouMean(unknown, knownAt(path));
  return { at: [...path, unknown].join('.'), why: 'no such setting', ...(hint !== undefined && { hint }) };
}

/** The keys of the object at a path. */
function knownAt(path: readonly string[]): readonly string[] {
  const keys = SETTINGS.filter((spec) => spec.inFile).map((spec) => spec.key);
  if (path.at(-1) === 'jwt') return RECIPE_KEYS;
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
