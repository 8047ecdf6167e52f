// Finds the settings of a run: reads the config file, merges it with flags and environment, and parses the result.
// Decides what depends on where a setting comes from: what the sandbox ignores, and where a credential may be sent. The
// sandbox (`--sandbox`) is a built-in service with sample files. A layer has the settings of one source, such as the
// flags, not yet parsed. A profile is a named object of settings in the config file. If one is selected, its settings
// override those at the top level of the file.
import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { parseOrThrow } from '../spec/option.ts';
import type { World } from '../world.ts';
import { type ConfigFile, type ConfigLocation, locateConfig, readConfigFile } from './config-file.ts';
import {
  createDefaultLayer,
  createEnvLayer,
  createFileLayers,
  createFlagLayer,
  findInLayers,
  type Layer,
  registerSecretSettings,
  resolvePrecedence,
} from './layers.ts';
import { parseSettings, type Settings } from './settings.ts';
import { SETTINGS } from './table.ts';

export interface ResolvedSettings {
  readonly settings: Settings;
  /** The settings before parsing, with their sources. Their values include secrets. */
  readonly rawSettings: Layer;
  /** The config file that was read. */
  readonly configPath: string | undefined;
  /**
   * Set if a credential of the config file must not be sent to the base URL. A command that sends requests must throw
   * it. Commands that only show settings ignore it.
   */
  readonly originError: FilingsError | undefined;
}

/**
 * Returns the settings by the precedence flag > environment > profile > config file > default. Reads no file except the
 * config file: keys and tokens are read when they are needed. Throws `usage` or `config`.
 */
export async function resolveSettings(flags: Flags, world: World): Promise<ResolvedSettings> {
  const { runLayers, configLayers, configPath } = await readLayers(flags, world);
  const rawSettings = resolvePrecedence([...runLayers, ...configLayers, createDefaultLayer()]);
  const settings = parseSettings(rawSettings, world);
  // For a deadline in the config file. Has no effect if a flag or the environment sets it, because `withinDeadline`
  // started that deadline before the command.
  world.setDeadline(settings.deadline);
  // The sandbox gets none of the user's credentials, so there is nothing to check.
  const origin = settings.sandbox ? undefined : settings.baseUrl?.origin;
  const originError = origin === undefined ? undefined : findOriginError(rawSettings, configLayers, origin);
  return { settings, rawSettings, configPath, originError };
}

/**
 * Returns the layers, from the highest to the lowest: those of the run (flags, environment) and those of the config
 * file (profile, top level). With --sandbox, the config file is read only if flags or environment name it, and no layer
 * has settings about the service. Throws `usage` or `config`. Exported for code that shows errors about invalid
 * settings.
 */
export async function readLayers(flags: Flags, world: World) {
  const runLayers = [createFlagLayer(flags), createEnvLayer(world.env)];
  const location = locateConfig(flags, world);
  const usesSandbox = readSandboxSwitch(runLayers);
  const file = usesSandbox && !location.isNamed ? undefined : await readConfigFile(location, world);
  const sections = file ? [file.values, ...Object.values(file.profiles)] : [];
  // This must come before the values of the file are parsed, because an error may quote one. It registers the secrets
  // of all profiles, selected or not.
  for (const section of sections) registerSecretSettings(section, world);
  const profile = findProfile(location, file);
  const configLayers = file ? createFileLayers(file.path, file.values, profile) : [];
  const removeIgnored = (layer: Layer) => (usesSandbox ? removeServiceSettings(layer) : layer);
  return {
    runLayers: runLayers.map(removeIgnored),
    configLayers: configLayers.map(removeIgnored),
    configPath: file?.path,
  };
}

/** Returns the layer without the settings that describe the service, and without credentials for it. */
function removeServiceSettings(layer: Layer): Layer {
  const removed = SETTINGS.filter(({ describesService, credential }) => describesService || credential);
  const names: ReadonlySet<string> = new Set(removed.map(({ name }) => name));
  return new Map([...layer].filter(([name]) => !names.has(name)));
}

const CREDENTIALS = {
  key: { label: 'API key', alternatives: '--api-key-file FILE or FILINGS_API_KEY' },
  token: { label: 'JWT', alternatives: '--jwt-file FILE or FILINGS_JWT' },
} as const;

/**
 * Returns an error if a credential of the config file would be sent to another origin (scheme, host and port) than the
 * one it is for. A credential in a profile is for the origin of the profile's base URL, or of the base URL at the top
 * level if the profile has none. A credential at the top level is for the base URL there, even if a profile has another
 * base URL. If the file has no base URL for a credential, it is not sent at all. A credential from flags or environment
 * may be sent to any origin, because the user gave it for this run.
 * @param origin the origin to which the run sends its requests
 */
function findOriginError(rawSettings: Layer, configLayers: readonly Layer[], origin: string) {
  for (const { name, credential } of SETTINGS) {
    const setting = rawSettings.get(name);
    // Only a setting of the config file has a directory.
    if (!credential || !setting?.directory) continue;
    // The last layer is the top level.
    const ownLayers = setting.profile === undefined ? configLayers.slice(-1) : configLayers;
    // Without a base URL, this is the string `undefined`, which is not a URL.
    const baseUrl = String(findInLayers(ownLayers, 'baseUrl')?.value);
    const ownOrigin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
    if (ownOrigin === origin) continue;
    const { label, alternatives } = CREDENTIALS[credential];
    // `repeatFlags` in session/presentation.ts adds the run's --config and --profile to a command in a hint.
    const command = `filings config set base-url ${origin}`;
    const [reason, hint] =
      ownOrigin === undefined
        ? ['the config file has no baseUrl for it', `if the ${label} is for this host, run: ${command}`]
        : [`the ${label} is for ${ownOrigin}`, `for this host use ${alternatives}`];
    const subject = { name: setting.source };
    return new FilingsError('config', `not sent to ${origin}, because ${reason}`, { subject, hint });
  }
  return undefined;
}

/**
 * Returns whether the run uses the sandbox, which the config file cannot select. This setting is parsed before all
 * others, because it decides which of them are ignored. Throws `usage` if it is invalid, or if --base-url contradicts
 * it. A base URL from the environment is ignored, because it may be meant for other runs.
 */
function readSandboxSwitch(layers: readonly Layer[]): boolean {
  const setting = findInLayers(layers, 'sandbox');
  if (setting === undefined) return false;
  const isOn = setting.value === true || parseOrThrow(SWITCH, String(setting.value), setting.source);
  if (isOn && findInLayers(layers, 'baseUrl')?.sourceKind === 'flag') {
    throw new FilingsError('usage', `--base-url cannot be used with ${setting.source}`);
  }
  return isOn;
}

/** Returns the selected profile, if one is selected. Throws `config` if the config file does not have it. */
function findProfile(location: ConfigLocation, file: ConfigFile | undefined) {
  const profile = location.profile ?? file?.values.profile;
  if (profile === undefined) return undefined;
  const name = String(profile);
  const profiles = file?.profiles ?? {};
  const values = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (values) return { name, values };
  const known = Object.keys(profiles);
  const reason =
    file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'no profiles'}`;
  // If neither a flag nor a variable selects the profile, the config file does.
  const unset = location.profile === undefined ? 'filings config unset profile' : undefined;
  throw new FilingsError('config', `no such profile: ${reason}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? unset,
  });
}
