// Changes a config file for `filings config set` and `config unset`. A new value is written only if the program could
// read the changed file afterwards. The file is an object of settings, some of which are objects with members. It may
// also have profiles: named objects of settings. If a run selects a profile, its settings override those at the top
// level. `set` and `unset` change a profile if --profile or the environment selects it, otherwise the top level. The
// file's own setting `profile`, which selects the profile of a run, does not matter to them. The `Kind` of a setting
// says how its value is parsed and stored.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../disk/atomic-write.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { type Kind, TEXT } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { parseOrThrow, valueError } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { World } from '../world.ts';
import { type ConfigLocation, checkConfig, noConfigPathError, readUncheckedConfig } from './config-file.ts';
import { createDefaultLayer, createFileLayers, resolvePrecedence } from './layers.ts';
import { findCredentialFault } from './read-secret.ts';
import { parseSettings } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/**
 * Finds a setting by its name in the spelling of the config file or of a flag: `apiKey`, `api-key`. Throws `usage` if
 * there is none. Also finds the settings that cannot be in the file, because `config get` shows them as well.
 */
export function findSetting(typedName: string): NamedSetting {
  const setting = SETTINGS.find(({ name }) => name === toCamelCase(typedName));
  if (setting !== undefined) return setting;
  // A user may type `api-key=KEY` by mistake. So the message quotes only what is before the equals sign.
  const [typed = '', value] = toCamelCase(typedName).split('=', 2);
  const names = SETTINGS.map(({ name }) => name);
  const suggestion = didYouMean(typed, names) ?? "see 'filings config list'";
  const hint = value === undefined ? suggestion : 'put a space between name and value';
  throw new FilingsError('usage', 'no such setting', { subject: { name: typed || "''" }, hint });
}

/** A setting of the config file, or a member of one. */
interface FileSetting {
  /** The setting. If a member was found, `kind` says how to parse the member. */
  readonly spec: NamedSetting;
  /** The member names that lead to the value: `['listing', 'query', 'page_size']`. */
  readonly nameParts: readonly string[];
}

/**
 * Finds a setting or a member by a name such as `apiKey`, `listing.files` or `listing.query.page_size`. Throws `usage`
 * if it does not exist, or if it cannot be set in the config file.
 */
export function findFileSetting(typedName: string): FileSetting {
  const [typedSetting = '', ...typedMembers] = typedName.split('.');
  const spec = findSetting(typedSetting);
  const { name } = spec;
  if (!spec.inFile) {
    const hint = `use ${describeOtherSources(spec)}`;
    throw new FilingsError('usage', `${name} cannot be set in the config file`, { hint });
  }
  if (typedMembers.length === 0) return { spec, nameParts: [name] };
  const member = toCamelCase(typedMembers[0] ?? '');
  // Only the parameters in `listing.query` have a third name. It may contain dots: `listing.query.page.size`.
  const parameter = typedMembers.slice(1).join('.');
  const kinds: Readonly<Record<string, Kind<unknown>>> = spec.kind.members ?? {};
  const kind = Object.hasOwn(kinds, member) ? kinds[member] : undefined;
  if (kind !== undefined && parameter === '') return { spec: { ...spec, kind }, nameParts: [name, member] };
  // The value of a parameter is a string.
  if (kind?.json === 'string map') return { spec: { ...spec, kind: TEXT }, nameParts: [name, member, parameter] };
  const members = Object.keys(kinds);
  if (members.length === 0)
    throw new FilingsError('usage', 'has no members', { subject: { name }, hint: "see 'filings config list'" });
  const hint = didYouMean(member, members) ?? `the members are ${members.join(', ')}`;
  throw new FilingsError('usage', 'no such member', { subject: { name }, hint });
}

/** Returns the flag and the variable of a setting that cannot be set in the file: `--sandbox or FILINGS_SANDBOX`. */
export function describeOtherSources({ flag, env }: NamedSetting): string {
  return orList([flag, env].filter((source) => source !== undefined));
}

function toCamelCase(text: string): string {
  return text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Converts a value from the command line into the JSON value for the config file. Paths become absolute, because in the
 * file they would be relative to its directory. Throws `usage` for an invalid value. The message never quotes a secret.
 */
export function toFileValue({ spec: { kind, secret }, nameParts }: FileSetting, text: string, cwd: string): unknown {
  const name = nameParts.join('.');
  // In the file, `-` still means stdin, and `~/` the home directory.
  const toPath = (typed: string) => (typed === '-' || typed.startsWith('~/') ? typed : resolve(cwd, typed));
  if (kind.json === 'string array' || kind.json === 'string map' || kind.json === 'object') {
    if (findJsonFault(text) !== undefined) throw valueError(name, `must be ${kind.expected}`);
    // JSON of another type than the kind's is accepted here, because `editConfigFile` checks the type. The members
    // `keyFile` and `secretFile` of `jwt` are paths.
    return JSON.parse(text, (memberName, member) =>
      name === 'jwt' && memberName.endsWith('File') && typeof member === 'string' ? toPath(member) : member,
    );
  }
  const value = parseOrThrow(kind, text, name);
  const fault = secret ? findCredentialFault(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', fault, { subject: { name } });
  // A number or boolean is stored as such. Any other value is stored as typed (`5m`), because a run parses it again.
  if (kind.json !== undefined) return value;
  return kind.completes === 'file' ? toPath(text) : text;
}

interface Change {
  /** The names that lead to the member, as in `FileSetting`. */
  readonly nameParts: readonly string[];
  /** Undefined removes the member. */
  readonly value: unknown;
}

/**
 * Changes one member: in a profile if flags or environment select one, otherwise at the top level. Creates the file if
 * it does not exist, even for a removal. Throws `config` if the location has no path, if the file cannot be read, or if
 * a new value would make it invalid, and `local_io` if it cannot be written.
 */
export async function editConfigFile({ path, profile }: ConfigLocation, change: Change, world: World) {
  if (path === undefined) throw noConfigPathError();
  // Unchecked, because the change may repair a file with an invalid member.
  const before: JsonObject = await readUncheckedConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // A new file begins with the path of its JSON Schema, with which editors complete and check it.
    return { $schema: pathToFileURL(join(world.root, 'schema/config.schema.json')).href };
  });
  const after = applyChange(before, profile, change);
  // A removal is not checked. Otherwise, a file with two invalid members could not be repaired by removing them.
  if (change.value !== undefined) await requireValid(after, profile, path, world);
  const text = `${JSON.stringify(after, undefined, 2)}\n`;
  await replaceFile(path, text, world, { makesDirectories: true }).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'EBUSY') throw error;
    // A file that is a mount point itself cannot be replaced by a rename.
    throw error.with({ hint: 'it is mounted as a single file: change it where it comes from, or mount its directory' });
  });
}

/** Returns a changed copy of the config. `undefined` as a value removes a member, because JSON.stringify omits it. */
function applyChange(config: JsonObject, profile: string | undefined, { nameParts, value }: Change): JsonObject {
  const section = profile === undefined ? config : findProfileValues(config, profile);
  // Removing a member from a profile that does not exist must not create the profile.
  if (section === undefined && value === undefined) return config;
  const after = setMember(section, nameParts, value);
  // `profiles` may be undefined, which a spread ignores.
  return profile === undefined ? after : { ...config, profiles: { ...(config.profiles as object), [profile]: after } };
}

/**
 * Returns a copy of an object with another value at a path of member names. Creates the objects on the way, even in
 * place of a value that is not an object. A nested object is removed together with its last member. An empty one would
 * have a meaning: `"listing": {}` tells a run that the service lists all files in one response, as a plain array.
 */
function setMember(object: unknown, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const members = isJsonObject(object) ? object : {};
  if (rest.length === 0) return { ...members, [name]: value };
  const inner = setMember(members[name], rest, value);
  const isEmpty = value === undefined && Object.values(inner).every((member) => member === undefined);
  return { ...members, [name]: isEmpty ? undefined : inner };
}

/** Returns the profile, if it exists. If it is not an object (in an unchecked file), `setMember` then replaces it. */
function findProfileValues({ profiles }: JsonObject, profile: string): JsonObject | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, profile) ? (profiles[profile] as JsonObject) : undefined;
}

/** Throws `config` if a member is invalid, or if settings contradict each other when this profile is selected. */
async function requireValid(config: JsonObject, profile: string | undefined, path: string, world: World) {
  await checkConfig(config, path);
  const selected =
    profile === undefined ? undefined : { name: profile, values: findProfileValues(config, profile) ?? {} };
  // Merges and parses the settings as a run does, only to see whether this throws. A layer is one source of settings,
  // such as a profile. The layers of flags and environment are left out: the file must be valid without them.
  parseSettings(resolvePrecedence([...createFileLayers(path, config, selected), createDefaultLayer()]), world);
}
