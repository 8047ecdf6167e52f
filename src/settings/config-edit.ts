// `filings config set` and `config unset` change a profile if --profile or the environment selects it, otherwise the
// top level. The file's own setting `profile` does not matter to them. A new value is written only if the program could
// read the changed file afterwards.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../disk/atomic-write.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { isJsonObject, type JsonObject, parseStrictly } from '../json.ts';
import type { Kind } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { parseOrThrow, valueError } from '../spec/option.ts';
import { orList, shellWord } from '../text.ts';
import type { World } from '../world.ts';
import {
  type ConfigLocation,
  checkConfig,
  findProfileValues,
  hasSecret,
  noConfigPathError,
  readUncheckedConfig,
  requireSize,
} from './config-file.ts';
import { createFileLayers, resolvePrecedence } from './layers.ts';
import { findCredentialFault } from './read-secret.ts';
import { parseSettings } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/** Accepts the spelling of the config file and that of a flag: `apiKey`, `api-key`. */
function findSetting(typedName: string): NamedSetting {
  const setting = SETTINGS.find(({ name }) => name === toCamelCase(typedName));
  if (setting !== undefined) return setting;
  // A user may type `api-key=KEY` by mistake. So the message quotes only what is before the equals sign.
  const [typed = '', value] = toCamelCase(typedName).split('=', 2);
  const names = SETTINGS.map(({ name }) => name);
  const suggestion = didYouMean(typed, names) ?? "see 'filings config list'";
  const hint = value === undefined ? suggestion : 'put a space between name and value';
  throw new FilingsError('usage', 'no such setting', { subject: { name: typed || "''" }, hint });
}

/** A setting, or a member of one. */
interface SettingPlace {
  readonly spec: NamedSetting;
  readonly member?: string | undefined;
  /** That of the member, if there is one. */
  readonly kind: Kind<unknown>;
  /** Such as `listing.files`. */
  readonly fullName: string;
}

/** Accepts a name such as `apiKey` or `listing.files`. */
export function findSettingPlace(typedName: string): SettingPlace {
  const [typedSetting = '', typedMember] = typedName.split(/\.(.*)/s);
  const spec = findSetting(typedSetting);
  const { name } = spec;
  if (typedMember === undefined) return { spec, kind: spec.kind, fullName: name };
  const member = toCamelCase(typedMember);
  const kinds: Readonly<Record<string, Kind<unknown>>> = spec.kind.members ?? {};
  const kind = Object.hasOwn(kinds, member) ? kinds[member] : undefined;
  if (kind !== undefined) return { spec, member, kind, fullName: `${name}.${member}` };
  const members = Object.keys(kinds);
  if (members.length === 0)
    throw new FilingsError('usage', 'has no members', { subject: { name }, hint: "see 'filings config list'" });
  const hint = didYouMean(member, members) ?? `the members are ${members.join(', ')}`;
  throw new FilingsError('usage', 'no such member', { subject: { name }, hint });
}

export function findPlaceInFile(typedName: string): SettingPlace {
  const place = findSettingPlace(typedName);
  const { name, inFile } = place.spec;
  if (inFile) return place;
  const hint = `use ${describeOtherSources(place.spec)}`;
  throw new FilingsError('usage', `${name} cannot be set in the config file`, { hint });
}

/** `--sandbox or FILINGS_SANDBOX`. */
export function describeOtherSources({ flag, env }: NamedSetting): string {
  return orList([flag, env].filter((source) => source !== undefined));
}

function toCamelCase(text: string): string {
  return text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Paths become absolute, because in the file they would be relative to its directory. The message never quotes a
 * secret.
 */
export function toFileValue({ spec, kind, fullName: name }: SettingPlace, text: string, cwd: string): unknown {
  // In the file, `-` still means stdin, and `~/` the home directory.
  const toPath = (typed: string) => (typed === '-' || typed.startsWith('~/') ? typed : resolve(cwd, typed));
  if (kind.json === 'string array' || kind.json === 'string map' || kind.json === 'object') {
    if (parseStrictly(text).fault) throw valueError(name, `must be ${kind.expected}`);
    // JSON of another type than the kind's is accepted here, because `editConfigFile` checks the type. The members
    // `keyFile` and `secretFile` of `jwt` are paths.
    return JSON.parse(text, (key, value) =>
      name === 'jwt' && key.endsWith('File') && typeof value === 'string' ? toPath(value) : value,
    );
  }
  const value = parseOrThrow(kind, text, name);
  const fault = spec.secret ? findCredentialFault(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', fault.reason, { subject: { name }, hint: fault.hint });
  // A number or boolean is stored as such. Any other value is stored as typed (`5m`), because a run parses it again.
  if (kind.json !== undefined) return value;
  return kind.isPath ? toPath(text) : text;
}

/** `undefined` as a value removes the member. Creates the file if it does not exist, even for a removal. */
export async function editConfigFile(
  { path, profile }: ConfigLocation,
  place: SettingPlace,
  value: unknown,
  world: World,
) {
  if (path === undefined) throw noConfigPathError();
  // The change may repair a file with an invalid member.
  const before: JsonObject = await readUncheckedConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors complete and check the file by its JSON Schema.
    return { $schema: pathToFileURL(join(world.root, 'schema/config.schema.json')).href };
  });
  const after = applyChange(before, profile, place, value);
  // A removal is not checked. Otherwise, a file with two invalid members could not be repaired by removing them.
  if (value !== undefined) await requireValid(after, profile, place.spec.name, path, world);
  const text = `${JSON.stringify(after, undefined, 2)}\n`;
  requireSize(Buffer.byteLength(text), path);
  const protection = hasSecret(after) ? 'private' : 'trusted';
  await replaceFile(path, text, world, { makesDirectories: true, protection }).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'EBUSY') throw error;
    // A file that is a mount point itself cannot be replaced by a rename.
    throw error.with({ hint: 'it is mounted as a single file: change it where it comes from, or mount its directory' });
  });
}

function applyChange(config: JsonObject, profile: string | undefined, place: SettingPlace, value: unknown): JsonObject {
  const section = profile === undefined ? config : findProfileValues(config, profile);
  if (section === undefined && value === undefined) throw noProfileError(profile, config);
  const after = setSetting(section, place, value);
  return profile === undefined ? after : { ...config, profiles: { ...(config.profiles as object), [profile]: after } };
}

/**
 * JSON.stringify omits members that are undefined. A setting is removed together with its last member. An empty object
 * would have a meaning: `"listing": {}` describes a plain array.
 *
 * @param object in an unchecked file, anything, which is replaced if it is no object
 */
function setSetting(object: unknown, { spec: { name }, member }: SettingPlace, value: unknown): JsonObject {
  const settings = isJsonObject(object) ? object : {};
  if (member === undefined) return { ...settings, [name]: value };
  const before = settings[name];
  const inner = { ...(isJsonObject(before) ? before : {}), [member]: value };
  const isEmpty = Object.values(inner).every((one) => one === undefined);
  return { ...settings, [name]: isEmpty ? undefined : inner };
}

function noProfileError(name: string | undefined, { profiles }: JsonObject): FilingsError {
  const create = `filings config set base-url URL --profile ${shellWord(`${name}`)}`;
  const hint = didYouMean(`${name}`, Object.keys(profiles ?? {})) ?? `set something in it first: ${create}`;
  return new FilingsError('usage', `the config file has no profile ${name}`, { subject: { name: 'profile' }, hint });
}

async function requireValid(
  config: JsonObject,
  editedProfile: string | undefined,
  changedName: string,
  path: string,
  world: World,
) {
  await checkConfig(config, path, 'correct the value, or the file if it has this fault already');
  const name = editedProfile ?? (config.profile as string | undefined);
  const values = name === undefined ? undefined : findProfileValues(config, name);
  if (changedName === 'profile' && values === undefined) throw noProfileError(name, config);
  const selected = name !== undefined && values ? { name, values } : undefined;
  // This merges and parses the settings as a run does, only to see whether it throws. The file must be valid without
  // flags and environment.
  parseSettings(resolvePrecedence(createFileLayers(path, config, selected)), world);
}
