import { stat } from 'node:fs/promises';
import { checkAccess, readSmallFile } from '../disk/secret-file.ts';
import { errnoOf, FilingsError, type Subject } from '../errors.ts';
import { findJsonFault, isJsonObject, type JsonObject } from '../json.ts';
import { homeIn, isNullDevice, pathsOf, typedPath } from '../paths.ts';
import type { ListingDescription } from '../service/listing.ts';
import type { Flags } from '../spec/command.ts';
import { nearest } from '../spec/nearest.ts';
import { textOf } from '../text.ts';
import type { SmallFile, World } from '../world.ts';
import { envLayer, firstOf, flagLayer } from './layers.ts';
import { SETTINGS } from './table.ts';

const MAX_KIB = 128;

export interface ConfigLocation {
  /** Absolute; undefined where there is no place for one. */
  readonly path: string | undefined;
  readonly named: boolean;
  readonly profile: string | undefined;
}

export interface ConfigFile {
  readonly path: string;
  readonly values: JsonObject;
  readonly profiles: Readonly<Record<string, JsonObject>>;
}

/** Nothing is read. Without a name: where the XDG Base Directory Specification has it, or Windows its settings. */
export function locateConfig(flags: Flags, world: World): ConfigLocation {
  const layers = [flagLayer(flags), envLayer(world.env)];
  const [named, profile] = [firstOf(layers, 'config'), firstOf(layers, 'profile')].map(
    (given) => given && String(given.value),
  );
  const path = named === undefined ? standardPath(world) : typedPath(named, world);
  // As everywhere: a file in which nothing is.
  const isNothing = path !== undefined && isNullDevice(path);
  return { path: isNothing ? undefined : path, named: named !== undefined, profile };
}

function standardPath({ env, platform }: Pick<World, 'env' | 'platform'>): string | undefined {
  const { isAbsolute, join } = pathsOf(platform);
  const home = homeIn(env, platform);
  const own = platform === 'win32' ? env.APPDATA : env.XDG_CONFIG_HOME;
  const base = own && isAbsolute(own) ? own : home && join(home, platform === 'win32' ? 'AppData/Roaming' : '.config');
  return base && join(base, 'filings', 'config.json');
}

/**
 * Returns undefined if no file was named and there is none that can be reached. Errors quote nothing of the file but names
 * of keys.
 * @param sandbox what is of the service is left out, and not checked
 */
export async function readConfigFile(
  { path, named }: ConfigLocation,
  world: World,
  sandbox: boolean,
): Promise<ConfigFile | undefined> {
  if (path === undefined) return undefined;
  const config = await readConfig(path, world, sandbox).catch(async (error: FilingsError) => {
    if (!named && (await isOutOfReach(path, errnoOf(error.cause)))) return undefined;
    throw error;
  });
  if (config === undefined) return undefined;
  await checkConfig(config, path);
  const { profiles = {}, ...values } = config;
  return { path, values, profiles: profiles as ConfigFile['profiles'] };
}

/** Whether `path` leads to no file. HOME may be another user's, as under `su -m`, so that its directories are closed. */
async function isOutOfReach(path: string, code: string | undefined): Promise<boolean> {
  if (code === 'ENOENT' || code === 'ENOTDIR') return true;
  if (code !== 'EACCES') return false;
  // A file that is there, but cannot be read, is not.
  return stat(path).then(
    () => false,
    (error) => errnoOf(error) === 'EACCES',
  );
}

/** Reads a config file, or returns or throws what an earlier call in this run came to. */
async function readOnce(path: string, world: World): Promise<SmallFile> {
  let file = world.configFiles.get(path);
  if (file === undefined) {
    file = await readSmallFile(path, 'config file', world, 'trusted').catch((error: FilingsError) => error);
    world.configFiles.set(path, file);
  }
  if ('bytes' in file) return file;
  throw file;
}

/**
 * What a config file holds: a JSON object that nobody else has a hand in, its members not yet checked.
 * What says where a key goes is as trusted as the key, whether it holds one or not.
 */
export async function readConfig(path: string, world: World, sandbox = false): Promise<JsonObject> {
  const subject = { name: 'config file', path };
  const { bytes, stats } = await readOnce(path, world);
  // What zod can check.
  if (bytes.length > MAX_KIB * 1024) throw new FilingsError('config', `larger than ${MAX_KIB} KiB`, { subject });
  const text = textOf(bytes);
  // An empty file says nothing.
  const config = text.trim() === '' ? {} : readConfigJson(text, subject);
  if (!isJsonObject(config)) throw new FilingsError('config', 'must hold a JSON object', { subject });
  const profiles = isJsonObject(config.profiles) ? Object.values(config.profiles) : [];
  const levels = [config, ...profiles.filter(isJsonObject)];
  if (sandbox) levels.forEach(dropService);
  const holds = (level: JsonObject, key: string) => Object.hasOwn(level, key) && level[key] !== null;
  const holdsSecret = SETTINGS.some(({ key, secret }) => secret && levels.some((level) => holds(level, key)));
  if (holdsSecret) checkAccess(stats, 'private', 'config file', path, world);
  return config;
}

/** Returns the names of the profiles. What else the file holds is not checked. */
export async function profileNames(flags: Flags, world: World): Promise<readonly string[]> {
  const { path } = locateConfig(flags, world);
  const { profiles } = path === undefined ? {} : await readConfig(path, world);
  return isJsonObject(profiles) ? Object.keys(profiles) : [];
}

/** Takes out the settings of the service, even misspelt. */
function dropService(level: JsonObject): void {
  const keys = SETTINGS.map(({ key }) => key);
  const ofService = SETTINGS.filter(({ service }) => service).map(({ key }): string => key);
  for (const key of Object.keys(level)) {
    if (ofService.includes(nearest(key, keys) ?? '')) Reflect.deleteProperty(level, key);
  }
}

/** A duplicate member is an error, since only one of them would count. */
function readConfigJson(text: string, subject: Subject): unknown {
  const fault = findJsonFault(text);
  if (fault === undefined) return JSON.parse(text);
  const lines = text.slice(0, fault.at).split('\n');
  const where = `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  if (fault.kind === 'twice') {
    throw new FilingsError('config', `${fault.path.join('.')}: is set twice, again ${where}`, { subject });
  }
  throw new FilingsError('config', `not valid JSON ${where}`, { subject });
}

export async function checkConfig(config: JsonObject, path: string): Promise<void> {
  // zod is loaded only where there is a file to check.
  const { findConfigFault } = await import('./config-check.ts');
  const fault = findConfigFault(config);
  if (fault)
    throw new FilingsError('config', fault.message, { subject: { name: 'config file', path }, hint: fault.hint });
  const { profiles = {}, listing } = config as { profiles?: Record<string, JsonObject>; listing?: ListingDescription };
  await checkExpressions(listing, `config file ${path}: listing`);
  for (const [name, profile] of Object.entries(profiles)) {
    await checkExpressions(profile.listing as typeof listing, `config file ${path}: profiles.${name}.listing`);
  }
}

/** Throws `config` for a JMESPath expression that cannot be evaluated. The library is loaded only if there is one. */
async function checkExpressions(listing: ListingDescription | undefined | null, where: string): Promise<void> {
  for (const member of ['files', 'name', 'total', 'more'] as const) {
    const expression = listing?.[member];
    if (expression === undefined) continue;
    const { expressionFault } = await import('../service/described-listing.ts');
    const fault = expressionFault(expression);
    if (fault === undefined) continue;
    throw new FilingsError('config', `invalid JMESPath expression: ${fault}`, {
      subject: { name: `${where}.${member}` },
      hint: 'the syntax is described at https://jmespath.org',
    });
  }
}
