// Resolves the settings of a run. Takes flags and environment, reads the config file, and gives the parsed settings
// together with the facts that only the sources know.
import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs } from '../spec/option.ts';
import { requireOneUser } from '../stdio/input.ts';
import type { World } from '../world.ts';
import { type ConfigFile, locateConfig, readConfigFile } from './config-file.ts';
import { type CredentialFile, findCredentialFiles } from './credential-files.ts';
import { type ForeignCredential, findForeignCredentials } from './foreign-credentials.ts';
import { configCommand } from './hint-command.ts';
import { rememberSettings } from './known-secrets.ts';
import {
  defaultLayer,
  envLayer,
  fileLayers,
  findInLayers,
  flagLayer,
  type Layer,
  resolvePrecedence,
} from './layers.ts';
import { readSettings, type Settings, stdinUsers } from './settings.ts';
import { SETTINGS } from './table.ts';

/** The settings of a run, before and after parsing, with the facts that only their sources know. */
export interface ResolvedSettings {
  readonly settings: Settings;
  /** The settings before parsing, with their sources. They contain secrets. */
  readonly rawSettings: Layer;
  readonly configPath: string | undefined;
  /** All files with credentials that flags, environment or config file name. */
  readonly credentialFiles: readonly CredentialFile[];
  /** Credentials of the config file that belong to another origin. They are not sent. */
  readonly foreign: readonly ForeignCredential[];
}

/**
 * Returns the settings: flag > environment > profile > config file > default. Reads the config file, but no secret.
 * Throws `usage` or `config`.
 * @param isRepair accepts a missing profile that the file itself names, so that a command can show the rest
 */
export async function resolveSettings(flags: Flags, world: World, isRepair = false): Promise<ResolvedSettings> {
  const { ofThisRun, inFile, configPath } = await readLayers(flags, world, isRepair);
  const rawSettings = resolvePrecedence([...ofThisRun, ...inFile, defaultLayer()]);
  const settings = readSettings(rawSettings, world);
  requireOneUser('stdin', stdinUsers(rawSettings));
  const foreign = settings.baseUrl ? findForeignCredentials(rawSettings, inFile, settings.baseUrl.origin, flags) : [];
  const credentialFiles = findCredentialFiles([...ofThisRun, ...inFile], world);
  return { settings, rawSettings, configPath, credentialFiles, foreign };
}

/**
 * Returns the layers before any value is parsed: flags and environment, without the settings of the service if the run
 * uses the sandbox, and the profile and the top level of the config file. Throws `usage` or `config`.
 */
export async function readLayers(flags: Flags, world: World, isRepair = false) {
  const all = [flagLayer(flags), envLayer(world.env)];
  const sandbox = isSandbox(all);
  const unused = SETTINGS.filter(({ service }) => sandbox && service).map(({ key }): string => key);
  const ofThisRun = all.map((layer) => new Map([...layer].filter(([key]) => !unused.includes(key))));
  const location = locateConfig(flags, world);
  const file = await readConfigFile(location, world, sandbox);
  for (const level of file ? [file.values, ...Object.values(file.profiles)] : []) rememberSettings(level, world);
  const profile = findProfile(location.profile, file, flags, isRepair);
  const inFile = file ? fileLayers(file.path, file.values, profile) : [];
  return { ofThisRun, inFile, configPath: file?.path };
}

/** Parses `--sandbox` before all other settings, because it decides which of them count. Throws `usage`. */
function isSandbox(layers: readonly Layer[]): boolean {
  const setting = findInLayers(layers, 'sandbox');
  if (setting === undefined) return false;
  const isOn = setting.value === true || readAs(SWITCH, String(setting.value), setting.name);
  if (isOn && findInLayers(layers, 'baseUrl')?.level === 'flag') {
    throw new FilingsError('usage', 'cannot be used together', { subject: { name: `--base-url and ${setting.name}` } });
  }
  return isOn;
}

/**
 * Returns the selected profile, or undefined if none is selected. Throws `config` if the file does not have it.
 * @param selected the profile from flags or environment
 */
function findProfile(selected: string | undefined, file: ConfigFile | undefined, { config }: Flags, isRepair: boolean) {
  const profile = selected ?? file?.values.profile;
  if (profile === undefined) return undefined;
  const name = String(profile);
  const profiles = file?.profiles ?? {};
  const values = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (values) return { name, values };
  if (selected === undefined && isRepair) return undefined;
  const known = Object.keys(profiles);
  const choices = file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'none'}`;
  const fix = selected === undefined ? configCommand('filings config unset profile', { config }) : undefined;
  throw new FilingsError('config', `no such profile: ${choices}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? fix,
  });
}
