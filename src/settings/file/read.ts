import { checkAccess, readSmallFile } from '../../disk/secret-file.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { DEEPEST, findJsonFault, isJsonObject } from '../../json.ts';
import { shortened } from '../../text.ts';
import type { World } from '../../world.ts';
import { SETTINGS } from '../table.ts';
import type { ConfigLocation } from './location.ts';

/** More than any configuration has, and no more than is checked in a moment. */
const LARGEST_KIB = 128;

const LONGEST_NAME = 60;

export type ConfigValues = Readonly<Record<string, unknown>>;

/** A config file, read and checked. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly values: ConfigValues;
  readonly profiles: Readonly<Record<string, ConfigValues>>;
}

/**
 * Reads and checks the config file; undefined when none was named and none is there.
 * @param ignored the keys of settings that are not looked at, nor checked
 * @throws FilingsError `config` with the key's path; nothing of the file is echoed but names of keys
 */
export async function readConfigFile(
  { path, named }: ConfigLocation,
  world: Pick<World, 'uid' | 'interrupt'>,
  ignored: ReadonlySet<string> = new Set(),
): Promise<ConfigFile | undefined> {
  if (path === undefined) return undefined;
  const config = await readConfig(path, world, ignored).catch((error: FilingsError) => {
    const missing = ['ENOENT', 'ENOTDIR'].includes(errnoOf(error.cause) ?? '');
    if (missing && !named) return undefined;
    throw error;
  });
  if (config === undefined) return undefined;
  await checkConfig(config, path, ignored);
  const { profiles, ...values } = config;
  return { path, values, profiles: (profiles ?? {}) as ConfigFile['profiles'] };
}

/**
 * What a config file holds: a JSON object that nobody else has a hand in, its members not yet checked.
 * What says where a key goes is as trusted as the key, whether it holds one or not.
 * @throws FilingsError `config`
 */
export async function readConfig(
  path: string,
  world: Pick<World, 'uid' | 'interrupt'>,
  ignored: ReadonlySet<string> = new Set(),
): Promise<ConfigValues> {
  const name = `config file ${path}`;
  const { bytes, stats } = await readSmallFile(path, 'config file', world.interrupt, (found) =>
    checkAccess(found, 'trusted', name, path, world.uid),
  );
  const config = parseConfig(bytes.toString(), name);
  if (holdsSecret(config, ignored)) checkAccess(stats, 'private', name, path, world.uid);
  return config;
}

/** An empty file says nothing. */
function parseConfig(content: string, name: string): ConfigValues {
  if (content.length > LARGEST_KIB * 1024) throw new FilingsError('config', `${name}: larger than ${LARGEST_KIB} KiB`);
  const text = content.replace(/^\ufeff/, '');
  const value = text.trim() === '' ? {} : readConfigJson(text, name, { code: 'config' });
  if (isJsonObject(value)) return value;
  throw new FilingsError('config', `${name}: must hold a JSON object`);
}

/**
 * Reads the configuration's JSON; a duplicate member is an error, since only one of them would count.
 * @throws FilingsError of the code, with `hint` where it is no JSON at all; nothing is echoed but names
 */
export function readConfigJson(
  text: string,
  name: string,
  { code, hint }: { readonly code: 'usage' | 'config'; readonly hint?: string },
): unknown {
  const fault = findJsonFault(text);
  if (fault === undefined) return JSON.parse(text);
  const lines = text.slice(0, fault.at).split('\n');
  const where = `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  if (fault.kind === 'twice') {
    const at = fault.path.map((member) => shortened(member, LONGEST_NAME)).join('.');
    throw new FilingsError(code, `${name}: ${at}: is set twice, again ${where}`, { hint: 'remove one of them' });
  }
  const why = fault.kind === 'syntax' ? 'not valid JSON' : `nested more than ${DEEPEST} levels deep`;
  throw new FilingsError(code, `${name}: ${why} ${where}`, hint === undefined ? {} : { hint });
}

/**
 * Checks every member against the settings' records.
 * @throws FilingsError `config` with the key's path, and the nearest key for one that is unknown
 */
export async function checkConfig(config: ConfigValues, path: string, ignored?: ReadonlySet<string>): Promise<void> {
  // zod is loaded only where there is a file to check.
  const { findConfigFault } = await import('./check.ts');
  const fault = findConfigFault(config, ignored);
  if (fault === undefined) return;
  const { at, why, hint } = fault;
  throw new FilingsError('config', `config file ${path}: ${at}: ${why}`, hint === undefined ? {} : { hint });
}

function holdsSecret(config: ConfigValues, ignored: ReadonlySet<string>): boolean {
  const levels = [
    config,
    ...(isJsonObject(config.profiles) ? Object.values(config.profiles).filter(isJsonObject) : []),
  ];
  const secrets = SETTINGS.filter(({ key, secret }) => secret && !ignored.has(key));
  return secrets.some(({ key }) => levels.some((level) => Object.hasOwn(level, key)));
}
