import { didYouMean } from './nearest.ts';
import { RECIPE_MEMBERS, SETTINGS, type SettingSpec } from './options.ts';
import { orList, wantedOf } from './values.ts';

/** What zod found; nothing of the value itself. */
interface Issue {
  readonly code?: string;
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

export interface ConfigFault {
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
  if (rest[0] === 'jwt' && rest.length > 1) return rest[1] === 'lifetime' ? wantedOf('duration') : 'a text in quotes';
  const spec = SETTINGS.find(({ key }) => key === rest[0]);
  return spec === undefined ? 'a text in quotes' : wantedInFile(spec);
}

/** What a setting must be in the config file. */
export function wantedInFile(spec: SettingSpec): string {
  switch (spec.kind) {
    case 'switch':
      return 'true or false';
    case 'count':
      return wantedCount(spec);
    case 'duration':
    case 'timeout':
    case 'rate':
      return wantedOf(spec.kind);
    case 'choice':
      return orList(spec.option?.choices ?? []);
    case 'argv':
      return 'an array of a program and its arguments, such as ["pass", "filings"]';
    case 'jwt-recipe':
      return `an object of ${RECIPE_KEYS.join(', ')}`;
    default:
      return 'a text in quotes';
  }
}

/** What a count must be, on the command line too. */
export function wantedCount({ range, default: example }: SettingSpec): string {
  const bounds = range === undefined ? '' : ` from ${range[0]} to ${range[1].toLocaleString('en')}`;
  return `a whole number${bounds}${example === undefined ? '' : `, such as ${example}`}`;
}
