import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { replaceFile } from '../../disk/whole-file.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { flagOf, readAs } from '../../spec/option.ts';
import { shellWord } from '../../text.ts';
import type { World } from '../../world.ts';
import { defaultLayer, fileLayer, winners } from '../layers.ts';
import { faultOf } from '../read-secret.ts';
import { readSettings } from '../settings.ts';
import { type NamedSetting, SETTINGS } from '../table.ts';
import type { ConfigLocation } from './location.ts';
import { type ConfigValues, checkConfig, readConfig, readConfigJson } from './read.ts';

/** Where in the config file: at its top, or in a profile. */
export interface Edit {
  readonly profile: string | undefined;
  readonly spec: NamedSetting;
  /** Undefined takes it out. */
  readonly value: unknown;
}

/**
 * The setting of a name, written as in the config file or as a flag: `apiKey`, `api-key`.
 * @throws FilingsError `usage` with the nearest name
 */
export function settingNamed(text: string): NamedSetting {
  const written = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const found = SETTINGS.find(({ key }) => key === written);
  if (found !== undefined) return found;
  // What follows may be a key.
  const [shown = ''] = text.split('=', 1);
  if (shown !== text) throw new FilingsError('usage', `${shown}: name and value must be two words`);
  const known = SETTINGS.map(({ key }) => key);
  throw new FilingsError('usage', `${text || "''"}: no such setting`, {
    hint: didYouMean(written, known) ?? "see 'filings help config'",
  });
}

/**
 * What a text on the command line means in the config file.
 * @throws FilingsError `usage`; nothing of a secret is echoed
 */
export function valueForFile({ key, kind, secret, inFile }: NamedSetting, text: string, cwd: string): unknown {
  if (!inFile) throw new FilingsError('usage', `${key}: cannot be set in the config file`);
  const path = (written: string) => (written === '-' || written.startsWith('~/') ? written : resolve(cwd, written));
  if (kind.json === 'words' || kind.json === 'recipe') {
    const example = kind.json === 'words' ? text.trim().split(/\s+/) : { keyFile: 'key.pem', sub: 'me' };
    const hint = `filings config set ${flagOf(key)} ${shellWord(JSON.stringify(example))}`;
    const value = readConfigJson(text, key, { code: 'usage', hint });
    if (!isJsonObject(value)) return value;
    const isPath = (name: string, member: unknown) => name.endsWith('File') && typeof member === 'string';
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, isPath(name, member) ? path(String(member)) : member]),
    );
  }
  const value = readAs(kind, text, { name: key, code: 'usage' });
  const fault = secret ? faultOf(text) : undefined;
  if (fault !== undefined) throw new FilingsError('usage', `${key}: ${fault}`);
  if (kind.json !== undefined) return value;
  return kind.completes === 'file' ? path(text) : text;
}

/**
 * Changes one member of the config file, which is made when it is missing; whole or not at all.
 * @throws FilingsError `usage`, `config` when the file would be wrong, `local_io`
 */
export async function editConfigFile({ path }: ConfigLocation, edit: Edit, world: World): Promise<void> {
  if (path === undefined) throw noHome();
  const before: ConfigValues = await readConfig(path, world).catch((error: FilingsError) => {
    if (errnoOf(error.cause) !== 'ENOENT') throw error;
    // Editors look there for what may follow.
    const $schema = pathToFileURL(join(world.root, 'schema/config.schema.json')).href;
    return edit.value === undefined ? {} : { $schema };
  });
  const after = edited(before, edit);
  if (edit.value !== undefined) await checkEdit(before, after, edit, path);
  await replaceFile(path, `${JSON.stringify(after, undefined, 2)}\n`);
}

/** Pure: the config with the member set, or taken out; an emptied profile stays. */
function edited(config: ConfigValues, { profile, spec, value }: Edit): ConfigValues {
  if (profile === undefined) return withMember(config, spec.key, value);
  const { profiles } = config;
  const level = levelOf(config, profile);
  if (level === undefined && value === undefined) return config;
  return { ...config, profiles: { ...(profiles ?? {}), [profile]: withMember(level ?? {}, spec.key, value) } };
}

function withMember(object: ConfigValues, key: string, value: unknown): ConfigValues {
  if (value !== undefined) return { ...object, [key]: value };
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

function levelOf({ profiles }: ConfigValues, profile: string): ConfigValues | undefined {
  return isJsonObject(profiles) && Object.hasOwn(profiles, profile) ? (profiles[profile] as ConfigValues) : undefined;
}

/** The whole file's form, and whether the new value goes with what is beside it. */
async function checkEdit(before: ConfigValues, after: ConfigValues, edit: Edit, path: string): Promise<void> {
  await checkConfig(after, path);
  const fault = faultTogether(after, edit.profile);
  // What was wrong before is not this edit's fault.
  if (fault === undefined || fault.message === faultTogether(before, edit.profile)?.message) return;
  const hint = edit.spec.key === 'baseUrl' ? { hint: 'use https, or first: filings config set allow-http true' } : {};
  throw fault.reworded(fault.message, hint);
}

/** What is wrong with the values of a level. */
function faultTogether(config: ConfigValues, profile: string | undefined): FilingsError | undefined {
  const where = { prefix: '', directory: '/' };
  const inProfile = profile === undefined ? [] : [fileLayer('profile', levelOf(config, profile) ?? {}, where)];
  try {
    readSettings(winners([...inProfile, fileLayer('file', config, where), defaultLayer('/')]));
    return undefined;
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
}

export function noHome(): FilingsError {
  return new FilingsError('config', 'no place for a config file', {
    hint: 'name one with --config FILE, or set HOME',
  });
}
