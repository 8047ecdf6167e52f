// Finds, reads and checks the config file, which is a JSON object of settings. It may also have `profiles`: named
// objects of settings. If a run selects a profile, its settings override those at the top level. A run reads a file at
// most once, because the file may be a pipe, as in `--config <(command)`.
import { stat } from 'node:fs/promises';
import { checkAccess, readSmallFile } from '../disk/secret-file.ts';
import { errnoOf, FilingsError, type Subject } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { homeDirectory, isNullDevice, pathModule, resolveUserPath } from '../paths.ts';
import type { ListingDescription } from '../service/described-listing.ts';
import type { Flags } from '../spec/command.ts';
import { decodeText } from '../text.ts';
import type { SmallFile, World } from '../world.ts';
import { createEnvLayer, createFlagLayer, findInLayers } from './layers.ts';
import { SETTINGS } from './table.ts';

/** The maximum size of a config file, in KiB. It bounds the time of the schema check. */
const MAX_KIB = 128;

/** The config file and the profile that flags and environment select. */
export interface ConfigLocation {
  /** Absolute. Undefined if there is no home directory, or if the user chose the null device. */
  readonly path: string | undefined;
  /** Whether a flag or the environment names the file. Otherwise `path` is the standard one, and may not exist. */
  readonly isNamed: boolean;
  /** The profile that a flag or the environment selects. */
  readonly profile: string | undefined;
}

/** A checked config file. */
export interface ConfigFile {
  readonly path: string;
  /** The settings at the top level. `$schema`, which is for editors, may be among them. Runs ignore it. */
  readonly values: JsonObject;
  readonly profiles: Readonly<Record<string, JsonObject>>;
}

/** Finds the config file and the profile by flags and environment, without reading the file. */
export function locateConfig(flags: Flags, world: World): ConfigLocation {
  // A layer has the settings from one source. The first layer that has a setting wins. The values of `config` and
  // `profile` are strings, but those of other settings may be of another type, hence `String`.
  const layers = [createFlagLayer(flags), createEnvLayer(world.env)];
  const [name, profile] = [findInLayers(layers, 'config'), findInLayers(layers, 'profile')].map(
    (setting) => setting && String(setting.value),
  );
  const path = name === undefined ? findStandardPath(world) : resolveUserPath(name, world);
  // Users name the null device, as in `--config /dev/null`, to run without a config file.
  const isNone = path !== undefined && isNullDevice(path);
  return { path: isNone ? undefined : path, isNamed: name !== undefined, profile };
}

/**
 * Returns the standard path: below APPDATA on Windows, otherwise by the XDG Base Directory Specification, which says to
 * ignore a relative XDG_CONFIG_HOME. Returns undefined if neither such a variable nor the home directory is known.
 */
function findStandardPath({ env, platform }: Pick<World, 'env' | 'platform'>): string | undefined {
  const { isAbsolute, join } = pathModule(platform);
  const home = homeDirectory(env, platform);
  const isWindows = platform === 'win32';
  const variable = isWindows ? env.APPDATA : env.XDG_CONFIG_HOME;
  const fallback = home && join(home, isWindows ? 'AppData/Roaming' : '.config');
  const base = variable && isAbsolute(variable) ? variable : fallback;
  return base && join(base, 'filings', 'config.json');
}

/** Returns the error for a command that needs the path of a config file, if {@link locateConfig} found none. */
export function noConfigPathError(): FilingsError {
  return new FilingsError('config', 'no path for a config file', {
    hint: 'use --config FILE, or set HOME (APPDATA on Windows)',
  });
}

/**
 * Reads and checks the config file. Returns undefined if the location has no path, or if there is no file at the
 * standard path. A file that the user named must exist. Throws `config`. The messages quote names of members, but no
 * values, which may be secrets.
 */
export async function readConfigFile({ path, isNamed }: ConfigLocation, world: World): Promise<ConfigFile | undefined> {
  if (path === undefined) return undefined;
  const config = await readUncheckedConfig(path, world).catch(async (error: FilingsError) => {
    if (!isNamed && (await isMissing(path, errnoOf(error.cause)))) return undefined;
    throw error;
  });
  if (config === undefined) return undefined;
  await checkConfig(config, path);
  const { profiles = {}, ...values } = config;
  return { path, values, profiles: profiles as ConfigFile['profiles'] };
}

/**
 * Returns whether there is no file at `path`, after reading it has failed with the system's error `code`. A file in a
 * directory that cannot be searched is treated as missing, because HOME may belong to another user, as under `su -m`.
 */
async function isMissing(path: string, code: string | undefined): Promise<boolean> {
  if (code === 'ENOENT' || code === 'ENOTDIR') return true;
  if (code !== 'EACCES') return false;
  // `stat` needs permission for the directories only. So it succeeds if just the file itself cannot be read, which must
  // be reported.
  return stat(path).then(
    () => false,
    (error) => errnoOf(error) === 'EACCES',
  );
}

/**
 * Reads a config file. Further calls in the same run return the same bytes or throw the same error. Throws `config` if
 * other users can change the file (the check `trusted`), because it decides where the key is sent.
 */
function readOnce(path: string, world: World): Promise<SmallFile> {
  const reading = world.configFiles.get(path) ?? readSmallFile(path, 'config file', world, 'trusted');
  world.configFiles.set(path, reading);
  return reading;
}

/**
 * Reads the JSON object of a config file without checking its members. Throws `config`, for example if other users can
 * change the file, or if they can read it and it has a secret.
 */
export async function readUncheckedConfig(path: string, world: World): Promise<JsonObject> {
  const subject = { name: 'config file', path };
  const { bytes, stats } = await readOnce(path, world);
  if (bytes.length > MAX_KIB * 1024) throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject });
  const text = decodeText(bytes);
  // An empty file is treated as an empty object.
  const config = text.trim() === '' ? {} : parseConfigJson(text, subject);
  if (!isJsonObject(config)) throw new FilingsError('config', 'must be a JSON object', { subject });
  // Nothing has been checked yet, so `profiles` may be anything.
  const profiles = isJsonObject(config.profiles) ? Object.values(config.profiles) : [];
  const sections = [config, ...profiles.filter(isJsonObject)];
  // In a profile, `null` unsets a setting of the top level, so it is no secret.
  const has = (section: JsonObject, name: string) => Object.hasOwn(section, name) && section[name] !== null;
  const hasSecret = SETTINGS.some(({ name, secret }) => secret && sections.some((section) => has(section, name)));
  // This check is stricter than that of `readOnce`: others must not even read the file.
  if (hasSecret) checkAccess(stats, 'private', 'config file', path, world);
  return config;
}

/** Returns the names of the profiles in the config file, for completions. Throws `config`. */
export async function readProfileNames(flags: Flags, world: World): Promise<readonly string[]> {
  return Object.keys((await readConfigFile(locateConfig(flags, world), world))?.profiles ?? {});
}

/**
 * Parses JSON. Throws `config` with line and column. A duplicate member is an error too, because JSON.parse would keep
 * only the last one without a word.
 */
function parseConfigJson(text: string, subject: Subject): unknown {
  const fault = findJsonFault(text);
  if (fault === undefined) return JSON.parse(text);
  const lines = text.slice(0, fault.at).split('\n');
  const position = `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  if (fault.kind === 'duplicate') {
    throw new FilingsError('config', `${fault.path.join('.')}: set twice, the second time ${position}`, { subject });
  }
  throw new FilingsError('config', `not valid JSON ${position}`, { subject });
}

/**
 * Throws `config` if a member is unknown or invalid, or if an expression in a `listing` is not JMESPath. (That setting
 * describes the responses of a service with JMESPath expressions.) `path` is for the messages.
 */
export async function checkConfig(config: JsonObject, path: string): Promise<void> {
  // Loading zod takes time, so it is loaded only if there is a config file.
  const { findConfigFault } = await import('./config-check.ts');
  const fault = findConfigFault(config);
  if (fault)
    throw new FilingsError('config', fault.message, { subject: { name: 'config file', path }, hint: fault.hint });
  // The types of these casts have just been checked. In a profile, `listing` may also be null, which unsets it.
  const { profiles = {} } = config as { profiles?: Record<string, JsonObject> };
  const prefixed = Object.entries(profiles).map(([name, profile]) => [`profiles.${name}.`, profile] as const);
  for (const [prefix, { listing }] of [['', config] as const, ...prefixed]) {
    await checkExpressions(listing as ListingDescription | null | undefined, `config file ${path}: ${prefix}listing`);
  }
}

/**
 * Throws `config` for an invalid JMESPath expression. `name` is what errors call the setting. The code that needs the
 * JMESPath library is loaded only if there is an expression, because loading it takes time.
 */
async function checkExpressions(listing: ListingDescription | undefined | null, name: string): Promise<void> {
  // Only these members are expressions.
  for (const member of ['files', 'name', 'total', 'more', 'next'] as const) {
    const expression = listing?.[member];
    if (expression === undefined) continue;
    const { findExpressionFault } = await import('../service/described-listing.ts');
    const fault = findExpressionFault(expression);
    if (fault === undefined) continue;
    throw new FilingsError('config', `invalid JMESPath expression: ${fault}`, {
      subject: { name: `${name}.${member}` },
      hint: 'the syntax is described at https://jmespath.org',
    });
  }
}
