// Finds, reads and checks the config file.
import { stat } from 'node:fs/promises';
import { checkAccess, readSmallFile } from '../disk/secret-file.ts';
import { FilingsError } from '../errors.ts';
import { isJsonObject, type JsonObject, parseStrictly, TOO_DEEP } from '../json.ts';
import { homeDirectory, isNullDevice, pathModule, resolveUserPath } from '../paths.ts';
import type { ListingDescription } from '../service/described-listing.ts';
import type { Flags } from '../spec/command.ts';
import { decodeText } from '../text.ts';
import type { World } from '../world.ts';
import { findRunSetting, registerSecretSettings } from './layers.ts';
import { SETTINGS } from './table.ts';

/** The limit bounds the time of the schema check. */
const MAX_KIB = 128;

/** What flags and environment say about the config file. */
export interface ConfigLocation {
  /** Absolute. Undefined if there is no home directory, or if the user chose the null device. */
  readonly path: string | undefined;
  /** If it is not named, `path` is the standard one, and may not exist. */
  readonly isNamed: boolean;
  readonly profile: string | undefined;
}

export interface ConfigFile {
  readonly path: string;
  /** `$schema`, which is for editors, may be among them. */
  readonly values: JsonObject;
  readonly profiles: Readonly<Record<string, JsonObject>>;
}

/** Does not read the file. */
export function locateConfig(flags: Flags, world: World): ConfigLocation {
  const named = findRunSetting('config', flags, world.env);
  const profile = findRunSetting('profile', flags, world.env);
  const path = named ? resolveUserPath(String(named.value), world) : findStandardPath(world);
  // Users name the null device, as in `--config /dev/null`, to run without a config file.
  const isNone = path !== undefined && isNullDevice(path);
  return { path: isNone ? undefined : path, isNamed: named !== undefined, profile: profile && String(profile.value) };
}

/**
 * Below APPDATA on Windows, otherwise by the XDG Base Directory Specification, which says to ignore a relative
 * XDG_CONFIG_HOME.
 */
function findStandardPath(world: World): string | undefined {
  const { env, platform } = world;
  const { isAbsolute, join, resolve } = pathModule(platform);
  const home = homeDirectory(env, platform);
  const isWindows = platform === 'win32';
  const variable = isWindows ? env.APPDATA : env.XDG_CONFIG_HOME;
  const fallback = home && join(home, isWindows ? 'AppData/Roaming' : '.config');
  const base = variable && isAbsolute(variable) ? variable : fallback;
  const path = base && join(base, 'filings', 'config.json');
  // HOME may be relative. `world.cwd` throws in a removed directory, so it is read only then.
  return path && !isAbsolute(path) ? resolve(world.cwd, path) : path;
}

export function noConfigPathError(): FilingsError {
  return new FilingsError('config', 'no path for a config file', {
    hint: 'use --config FILE, or set HOME (APPDATA on Windows)',
  });
}

/** A file that the user named must exist. The messages quote names of members, but no values, which may be secrets. */
export async function readConfigFile({ path, isNamed }: ConfigLocation, world: World): Promise<ConfigFile | undefined> {
  if (path === undefined) return undefined;
  const config = await readUncheckedConfig(path, world).catch(async (error: FilingsError) => {
    // Not by the code of the error: `stat` also fails in a directory that cannot be searched, because HOME may belong
    // to another user, as under `su -m`, but not if just the file itself cannot be read.
    if (isNamed || (await stat(path).catch(() => undefined))) throw error;
    return undefined;
  });
  if (config === undefined) return undefined;
  await checkConfig(config, path);
  const { profiles = {}, ...values } = config;
  return { path, values, profiles: profiles as ConfigFile['profiles'] };
}

export function requireSize(bytes: number, path: string): void {
  if (bytes > MAX_KIB * 1024) throw configFileError(path, `larger than ${MAX_KIB} KiB`);
}

function configFileError(path: string, reason: string, hint = 'correct the file in an editor'): FilingsError {
  return new FilingsError('config', reason, { subject: { name: 'config file', path }, hint });
}

/** Does not check the members. */
export async function readUncheckedConfig(path: string, world: World): Promise<JsonObject> {
  // Others must not be able to change the file, because it decides where the key is sent.
  const { bytes, stats } = await readSmallFile(path, 'config file', world, 'trusted');
  requireSize(bytes.length, path);
  const text = decodeText(bytes);
  const config = text.trim() === '' ? {} : parseConfigJson(text, path);
  if (!isJsonObject(config)) throw configFileError(path, 'must be a JSON object');
  // The secrets of all profiles are registered, selected or not, because the next error may quote one.
  for (const section of listSections(config)) registerSecretSettings(section, world);
  // A file with a secret must not even be readable for others.
  if (hasSecret(config)) checkAccess(stats, 'private', 'config file', path, world);
  return config;
}

/** The top level and the profiles. `config` may not be checked yet, so `profiles` may be anything. */
function listSections(config: JsonObject): readonly JsonObject[] {
  const profiles = isJsonObject(config.profiles) ? Object.values(config.profiles) : [];
  return [config, ...profiles.filter(isJsonObject)];
}

export function hasSecret(config: JsonObject): boolean {
  // In a profile, `null` is no secret: it unsets a setting of the top level. `undefined` will not be written.
  const isSet = (value: unknown) => value !== null && value !== undefined;
  return SETTINGS.some(({ name, secret }) => secret && listSections(config).some((section) => isSet(section[name])));
}

/** In an unchecked file, a profile may not be an object. */
export function findProfileValues({ profiles }: { readonly profiles?: unknown }, name: string): JsonObject | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, name) ? (profiles[name] as JsonObject) : undefined;
}

export async function readProfileNames(flags: Flags, world: World): Promise<readonly string[]> {
  return Object.keys((await readConfigFile(locateConfig(flags, world), world))?.profiles ?? {});
}

/** JSON.parse would silently keep only the last of duplicate members. */
function parseConfigJson(text: string, path: string): unknown {
  const { value, fault } = parseStrictly(text);
  if (fault === undefined) return value;
  if (fault.kind === 'duplicate') throw configFileError(path, `${fault.path?.join('.')}: set twice`);
  if (fault.kind === 'too deep') throw configFileError(path, TOO_DEEP);
  const lines = text.slice(0, fault.at).split('\n');
  const position = ` at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  throw configFileError(path, `not valid JSON${fault.at === undefined ? '' : position}`);
}

export async function checkConfig(config: JsonObject, path: string, hint?: string): Promise<void> {
  // Loading zod takes time.
  const { findConfigFault } = await import('./config-check.ts');
  const fault = findConfigFault(config);
  if (fault) throw configFileError(path, fault.reason, fault.hint ?? hint);
  // The casts are safe after the check. In a profile, `listing` may be null, which unsets it.
  const { profiles = {} } = config as { profiles?: Record<string, JsonObject> };
  const prefixed = Object.entries(profiles).map(([name, profile]) => [`profiles.${name}.`, profile] as const);
  for (const [prefix, { listing }] of [['', config] as const, ...prefixed]) {
    await checkListing(listing as ListingDescription | null | undefined, `config file ${path}: ${prefix}listing`);
  }
}

/** Loading the JMESPath library takes time, so it is loaded only if there is an expression. */
async function checkListing(listing: ListingDescription | undefined | null, name: string): Promise<void> {
  const { page, offset, cursor, query = {} } = listing ?? {};
  if ([page, offset, cursor, ...Object.keys(query)].some((parameter) => /^accession_no$/i.test(parameter ?? '')))
    throw new FilingsError('config', 'sets accession_no, which every request has for its filing', {
      subject: { name },
      hint: 'remove accession_no from query, page, offset and cursor',
    });
  for (const member of ['files', 'name', 'total', 'more', 'next'] as const) {
    const expression = listing?.[member];
    if (expression === undefined) continue;
    const { findExpressionFault } = await import('../service/expression.ts');
    const fault = findExpressionFault(expression);
    if (fault === undefined) continue;
    throw new FilingsError('config', `invalid JMESPath expression: ${fault}`, {
      subject: { name: `${name}.${member}` },
      hint: 'a name with other characters than letters, digits and _ needs double quotes; see https://jmespath.org',
    });
  }
}
