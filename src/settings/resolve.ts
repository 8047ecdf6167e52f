// Resolves the settings of a run. Takes flags and environment, reads the config file, and gives the parsed settings
// together with the facts that only the sources know.
import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs } from '../spec/option.ts';
import { shellWord } from '../text.ts';
import type { World } from '../world.ts';
import { type ConfigFile, type ConfigLocation, locateConfig, readConfigFile } from './config-file.ts';
import {
  defaultLayer,
  envLayer,
  fileLayers,
  findInLayers,
  flagLayer,
  type Layer,
  rememberSettings,
  resolvePrecedence,
} from './layers.ts';
import { readSettings, type Settings } from './settings.ts';
import { SETTINGS } from './table.ts';

/** The settings of a run, before and after parsing. */
export interface ResolvedSettings {
  readonly settings: Settings;
  /** The settings before parsing, with their sources. They contain secrets. */
  readonly rawSettings: Layer;
  readonly configPath: string | undefined;
  /** Why nothing can be sent to the service: a credential of the config file belongs to another origin. */
  readonly foreign: FilingsError | undefined;
}

/**
 * Returns the settings: flag > environment > profile > config file > default. Reads the config file, but no secret.
 * Throws `usage` or `config`.
 */
export async function resolveSettings(flags: Flags, world: World): Promise<ResolvedSettings> {
  const { ofThisRun, inFile, configPath } = await readLayers(flags, world);
  const rawSettings = resolvePrecedence([...ofThisRun, ...inFile, defaultLayer()]);
  const settings = readSettings(rawSettings, world);
  world.setDeadline(settings.deadline);
  const origin = settings.sandbox ? undefined : settings.baseUrl?.origin;
  const foreign = origin === undefined ? undefined : foreignError(rawSettings, inFile, origin);
  return { settings, rawSettings, configPath, foreign };
}

/**
 * Returns the layers before any value is parsed: flags and environment, and the profile and the top level of the config
 * file. The sandbox uses only a config file that is named. Throws `usage` or `config`.
 */
export async function readLayers(flags: Flags, world: World) {
  const ofThisRun = [flagLayer(flags), envLayer(world.env)];
  const location = locateConfig(flags, world);
  const isInSandbox = isSandbox(ofThisRun);
  const file = isInSandbox && !location.isNamed ? undefined : await readConfigFile(location, world);
  for (const level of file ? [file.values, ...Object.values(file.profiles)] : []) rememberSettings(level, world);
  const profile = findProfile(location, file);
  const inFile = file ? fileLayers(file.path, file.values, profile) : [];
  const used = (layers: readonly Layer[]) => (isInSandbox ? layers.map(withoutService) : layers);
  return { ofThisRun: used(ofThisRun), inFile: used(inFile), configPath: file?.path };
}

/** Returns a layer without the settings that describe the service or its credentials. */
function withoutService(layer: Layer): Layer {
  const own = SETTINGS.filter(({ service, group }) => !service && !group).map(({ key }) => key);
  return new Map([...layer].filter(([key]) => (own as readonly string[]).includes(key)));
}

const CREDENTIALS = {
  key: { name: 'API key', forRun: '--api-key-file FILE or FILINGS_API_KEY' },
  token: { name: 'JWT', forRun: '--jwt-file FILE or FILINGS_JWT' },
} as const;

/**
 * Returns the error about a credential of the config file that belongs to another origin than the one of this run. It
 * belongs to the origin of the base URL in the same level; a profile inherits the base URL of the top level. A
 * credential from flags or environment is sent to any origin.
 */
function foreignError(rawSettings: Layer, inFile: readonly Layer[], origin: string) {
  for (const { key, group } of SETTINGS) {
    const credential = group && rawSettings.get(key);
    // Only values from the config file have a directory.
    if (!group || !credential?.directory) continue;
    const { profile, name } = credential;
    const baseUrl = String(findInLayers(profile === undefined ? inFile.slice(-1) : inFile, 'baseUrl')?.value);
    const owner = URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
    if (owner === origin) continue;
    const reason =
      owner === undefined ? 'no baseUrl is set next to it' : `the ${CREDENTIALS[group].name} is for ${owner}`;
    const hint =
      owner === undefined
        ? `if it is for this host: filings config set base-url ${origin}`
        : `for this host use ${CREDENTIALS[group].forRun}`;
    return new FilingsError('config', `${reason}; not sent to ${origin}`, { subject: { name }, hint });
  }
  return undefined;
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

/** Returns the selected profile, or undefined if none is selected. Throws `config` if the file does not have it. */
function findProfile({ profile: selected, isNamed }: ConfigLocation, file: ConfigFile | undefined) {
  const profile = selected ?? file?.values.profile;
  if (profile === undefined) return undefined;
  const name = String(profile);
  const profiles = file?.profiles ?? {};
  const values = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (values) return { name, values };
  const known = Object.keys(profiles);
  const choices = file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'none'}`;
  const unset = `filings config unset profile${isNamed ? ` --config ${shellWord(file?.path ?? '')}` : ''}`;
  throw new FilingsError('config', `no such profile: ${choices}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? (selected === undefined ? unset : undefined),
  });
}
