// Changes a config file for `filings config set` and `config unset`. Takes the name of a setting or of a member of it,
// and the text of its value, and writes the file only if the result could be read back.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../disk/atomic-write.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { type Kind, TEXT } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs, valueError } from '../spec/option.ts';
import { orList } from '../text.ts';
import type { World } from '../world.ts';
import { type ConfigLocation, checkConfig, noConfigPathError, readConfig } from './config-file.ts';
import { defaultLayer, fileLayers, resolvePrecedence } from './layers.ts';
import { findCredentialFault } from './read-secret.ts';
import { readSettings } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/** Returns the setting with this name, as the config file spells it or as a flag: `apiKey`, `api-key`. Throws `usage`. */
export function findSetting(text: string): NamedSetting {
  const found = SETTINGS.find(({ key }) => key === toCamelCase(text));
  if (found !== undefined) return found;
  // The text after an equals sign may be a secret, so the message does not repeat it.
  const [name = '', value] = toCamelCase(text).split('=', 2);
  const known = SETTINGS.map(({ key }) => key);
  const suggestion = didYouMean(name, known) ?? "see 'filings config list'";
  const hint = value === undefined ? suggestion : 'put a space between name and value';
  throw new FilingsError('usage', 'no such setting', { subject: { name: name || "''" }, hint });
}

/** A setting that the config file may hold, or a member of it. */
interface FileSetting {
  /** The setting, with the kind of the member. */
  readonly spec: NamedSetting;
  /** The names that lead to the value: `['listing', 'query', 'page_size']`. */
  readonly path: readonly string[];
}

/**
 * Returns the setting for a name such as `apiKey`, `listing.files` or `listing.query.page_size`. Throws `usage` if there
 * is none, or if the config file cannot hold it.
 */
export function findFileSetting(text: string): FileSetting {
  const [name = '', ...members] = text.split('.');
  const spec = findSetting(name);
  if (!spec.inFile) {
    const hint = `use ${waysBesideFile(spec)}`;
    throw new FilingsError('usage', `${spec.key} cannot be set in the config file`, { hint });
  }
  if (members.length === 0) return { spec, path: [spec.key] };
  const member = toCamelCase(members[0] ?? '');
  // The name of a parameter may have dots.
  const parameter = members.slice(1).join('.');
  const known: Readonly<Record<string, Kind<unknown>>> = spec.kind.members ?? {};
  const kind = Object.hasOwn(known, member) ? known[member] : undefined;
  if (kind !== undefined && parameter === '') return { spec: { ...spec, kind }, path: [spec.key, member] };
  if (kind?.json === 'texts') return { spec: { ...spec, kind: TEXT }, path: [spec.key, member, parameter] };
  const hint = didYouMean(member, Object.keys(known)) ?? "see 'man filings'";
  throw new FilingsError('usage', 'it has no such member', { subject: { name: spec.key }, hint });
}

/** Returns the flag and the variable that set a setting: `--sandbox or FILINGS_SANDBOX`. */
export function waysBesideFile({ option, env }: NamedSetting): string {
  return orList([option, env].filter((way) => way !== undefined));
}

function toCamelCase(text: string): string {
  return text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the value that the config file gets for a text of the command line, with absolute paths. Throws `usage`; the
 * message echoes no secret.
 */
export function toFileValue({ spec: { kind, secret }, path }: FileSetting, text: string, cwd: string): unknown {
  const name = path.join('.');
  const toPath = (typed: string) => (typed === '-' || typed.startsWith('~/') ? typed : resolve(cwd, typed));
  if (kind.json === 'words' || kind.json === 'texts' || kind.json === 'object') {
    if (findJsonFault(text) !== undefined) throw valueError(name, `must be ${kind.expected}`);
    return JSON.parse(text, (memberName, member) =>
      memberName.endsWith('File') && typeof member === 'string' ? toPath(member) : member,
    );
  }
  const value = readAs(kind, text, name);
  const fault = secret ? findCredentialFault(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', fault, { subject: { name } });
  if (kind.json !== undefined) return value;
  return kind.completes === 'file' ? toPath(text) : text;
}

interface Change {
  readonly path: readonly string[];
  /** Undefined removes it. */
  readonly value: unknown;
}

/**
 * Changes one setting or a member of it, at the top level or in a profile. Creates the file if it is missing. Throws
 * `config`, also if the new value makes the file invalid, and `local_io`.
 */
export async function editConfigFile({ path, profile }: ConfigLocation, change: Change, world: World) {
  if (path === undefined) throw noConfigPathError();
  const before: JsonObject = await readConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors complete and check the file with this schema.
    return { $schema: pathToFileURL(join(world.root, 'schema/config.schema.json')).href };
  });
  const after = withChange(before, profile, change);
  // Removing a member cannot make the file invalid. It may be the way to repair one that is.
  if (change.value !== undefined) await checkChanged(after, profile, path, world);
  const text = `${JSON.stringify(after, undefined, 2)}\n`;
  await replaceFile(path, text, world, { makesDirectories: true }).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'EBUSY') throw error;
    throw error.with({ hint: 'it is mounted as a single file: change it where it comes from, or mount its directory' });
  });
}

/** Returns a copy of the config with one change. What is undefined disappears in JSON. A profile without members stays. */
function withChange(config: JsonObject, profile: string | undefined, { path, value }: Change): JsonObject {
  const level = profile === undefined ? config : valuesOfProfile(config, profile);
  if (level === undefined && value === undefined) return config;
  const after = withMember(level, path, value);
  return profile === undefined ? after : { ...config, profiles: { ...(config.profiles as object), [profile]: after } };
}

/**
 * Returns a copy of an object with another value at a path. An object goes with its last member: an empty `listing`
 * would mean that one response is the whole listing.
 */
function withMember(object: unknown, [name = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const old = isJsonObject(object) ? object : {};
  if (rest.length === 0) return { ...old, [name]: value };
  const inner = withMember(old[name], rest, value);
  const isEmpty = value === undefined && Object.values(inner).every((member) => member === undefined);
  return { ...old, [name]: isEmpty ? undefined : inner };
}

function valuesOfProfile({ profiles }: JsonObject, profile: string): JsonObject | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, profile) ? (profiles[profile] as JsonObject) : undefined;
}

/** Throws `config` if a member is invalid, or if the settings of the file and the profile contradict each other. */
async function checkChanged(config: JsonObject, profile: string | undefined, path: string, world: World) {
  await checkConfig(config, path);
  const chosen = profile === undefined ? undefined : { name: profile, values: valuesOfProfile(config, profile) ?? {} };
  readSettings(resolvePrecedence([...fileLayers(path, config, chosen), defaultLayer()]), world);
}
