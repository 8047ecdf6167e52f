// Finds and reads the config file. Takes flags and environment, and gives the checked members of the file. Each file is
// read at most once in a run, because it may be a pipe.
import { stat } from 'node:fs/promises';
import { checkAccess, readSmallFile } from '../disk/secret-file.ts';
import { errnoOf, FilingsError, type Subject } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { homeIn, isNullDevice, pathsOf, typedPath } from '../paths.ts';
import type { ListingDescription } from '../service/described-listing.ts';
import type { Flags } from '../spec/command.ts';
import { textOf } from '../text.ts';
import type { SmallFile, World } from '../world.ts';
import { envLayer, findInLayers, flagLayer } from './layers.ts';
import { SETTINGS } from './table.ts';

/** The maximum size of a config file, in KiB. It bounds the work of the schema check. */
const MAX_KIB = 128;

/** The config file and the profile that flags and environment select. */
export interface ConfigLocation {
  /** Absolute. Undefined if a run has no config file: without a home directory, and for the null device. */
  readonly path: string | undefined;
  /** False for the standard path, where the file may be missing. */
  readonly isNamed: boolean;
  /** The profile that a flag or the environment names. */
  readonly profile: string | undefined;
}

/** A config file whose members are checked. */
export interface ConfigFile {
  readonly path: string;
  readonly values: JsonObject;
  readonly profiles: Readonly<Record<string, JsonObject>>;
}

/**
 * Returns the path of the config file without reading it. The default follows the XDG Base Directory Specification, on
 * Windows it is below APPDATA.
 */
export function locateConfig(flags: Flags, world: World): ConfigLocation {
  const layers = [flagLayer(flags), envLayer(world.env)];
  const [name, profile] = [findInLayers(layers, 'config'), findInLayers(layers, 'profile')].map(
    (setting) => setting && String(setting.value),
  );
  const path = name === undefined ? standardPath(world) : typedPath(name, world);
  // The null device is a usual name for an empty file.
  const isEmpty = path !== undefined && isNullDevice(path);
  return { path: isEmpty ? undefined : path, isNamed: name !== undefined, profile };
}

function standardPath({ env, platform }: Pick<World, 'env' | 'platform'>): string | undefined {
  const { isAbsolute, join } = pathsOf(platform);
  const home = homeIn(env, platform);
  const isWindows = platform === 'win32';
  const variable = isWindows ? env.APPDATA : env.XDG_CONFIG_HOME;
  const fallback = home && join(home, isWindows ? 'AppData/Roaming' : '.config');
  const base = variable && isAbsolute(variable) ? variable : fallback;
  return base && join(base, 'filings', 'config.json');
}

/** Returns the error for a run that has no standard path for a config file. */
export function noConfigPathError(): FilingsError {
  return new FilingsError('config', 'no place for a config file', {
    hint: 'name one with --config FILE, or set HOME (APPDATA on Windows)',
  });
}

/**
 * Returns the members of the config file, checked. Returns undefined if no file was named and the standard file cannot
 * be reached. Throws `config`; the messages quote names of keys and nothing else from the file.
 */
export async function readConfigFile({ path, isNamed }: ConfigLocation, world: World): Promise<ConfigFile | undefined> {
  if (path === undefined) return undefined;
  const config = await readConfig(path, world).catch(async (error: FilingsError) => {
    if (!isNamed && (await isUnreachable(path, errnoOf(error.cause)))) return undefined;
    throw error;
  });
  if (config === undefined) return undefined;
  await checkConfig(config, path);
  const { profiles = {}, ...values } = config;
  return { path, values, profiles: profiles as ConfigFile['profiles'] };
}

/**
 * Returns whether `path` leads to no file, after reading failed with `code`. HOME may belong to another user, as under
 * `su -m`, whose directories cannot be searched.
 */
async function isUnreachable(path: string, code: string | undefined): Promise<boolean> {
  if (code === 'ENOENT' || code === 'ENOTDIR') return true;
  if (code !== 'EACCES') return false;
  // A file that exists and cannot be read must be reported.
  return stat(path).then(
    () => false,
    (error) => errnoOf(error) === 'EACCES',
  );
}

/** Reads a config file once in a run. Later calls return the same file or throw the same error. */
function readOnce(path: string, world: World): Promise<SmallFile> {
  const reading = world.configFiles.get(path) ?? readSmallFile(path, 'config file', world, 'trusted');
  world.configFiles.set(path, reading);
  return reading;
}

/**
 * Returns the JSON object of a config file, with members that are not checked yet. Throws `config`. Other users must
 * not be able to change the file, even if it has no secret, because it says where the key is sent. With a secret in it,
 * they must not be able to read it either.
 */
export async function readConfig(path: string, world: World): Promise<JsonObject> {
  const subject = { name: 'config file', path };
  const { bytes, stats } = await readOnce(path, world);
  if (bytes.length > MAX_KIB * 1024) throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject });
  const text = textOf(bytes);
  // An empty file is treated as an empty object.
  const config = text.trim() === '' ? {} : readConfigJson(text, subject);
  if (!isJsonObject(config)) throw new FilingsError('config', 'must be a JSON object', { subject });
  const profiles = isJsonObject(config.profiles) ? Object.values(config.profiles) : [];
  const levels = [config, ...profiles.filter(isJsonObject)];
  const has = (level: JsonObject, key: string) => Object.hasOwn(level, key) && level[key] !== null;
  const hasSecret = SETTINGS.some(({ key, secret }) => secret && levels.some((level) => has(level, key)));
  if (hasSecret) checkAccess(stats, 'private', 'config file', path, world);
  return config;
}

/** Returns the names of the profiles. Throws `config`. */
export async function readProfileNames(flags: Flags, world: World): Promise<readonly string[]> {
  return Object.keys((await readConfigFile(locateConfig(flags, world), world))?.profiles ?? {});
}

/** Parses the text. Throws `config` with line and column, also for a duplicate member: only one would count. */
function readConfigJson(text: string, subject: Subject): unknown {
  const fault = findJsonFault(text);
  if (fault === undefined) return JSON.parse(text);
  const lines = text.slice(0, fault.at).split('\n');
  const position = `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  if (fault.kind === 'twice') {
    throw new FilingsError('config', `${fault.path.join('.')}: is set twice, again ${position}`, { subject });
  }
  throw new FilingsError('config', `not valid JSON ${position}`, { subject });
}

/** Throws `config` if a member is unknown or invalid, or if an expression of `listing` cannot be compiled. */
export async function checkConfig(config: JsonObject, path: string): Promise<void> {
  // Loading zod takes time, so it is loaded only if there is a file to check.
  const { findConfigFault } = await import('./config-check.ts');
  const fault = findConfigFault(config);
  if (fault)
    throw new FilingsError('config', fault.message, { subject: { name: 'config file', path }, hint: fault.hint });
  const { profiles = {} } = config as { profiles?: Record<string, JsonObject> };
  const levels = Object.entries(profiles).map(([name, level]) => [`profiles.${name}.`, level] as const);
  for (const [prefix, { listing }] of [['', config] as const, ...levels]) {
    await checkExpressions(listing as ListingDescription | null | undefined, `config file ${path}: ${prefix}listing`);
  }
}

/** Throws `config` for a JMESPath expression that cannot be evaluated. The library is loaded only if there is one. */
async function checkExpressions(listing: ListingDescription | undefined | null, path: string): Promise<void> {
  for (const member of ['files', 'name', 'total', 'more', 'next'] as const) {
    const expression = listing?.[member];
    if (expression === undefined) continue;
    const { expressionFault } = await import('../service/described-listing.ts');
    const fault = expressionFault(expression);
    if (fault === undefined) continue;
    throw new FilingsError('config', `invalid JMESPath expression: ${fault}`, {
      subject: { name: `${path}.${member}` },
      hint: 'the syntax is described at https://jmespath.org',
    });
  }
}
