// Finds the settings of a run: reads the config file, merges it with flags and environment, and parses the result.
// Decides what depends on where a setting comes from: what the sandbox ignores, and where a credential may be sent.
import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { parseOrThrow } from '../spec/option.ts';
import { shellWord } from '../text.ts';
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
   * The error for any command that sends a request: a credential of the config file belongs to another origin. Commands
   * that only show settings ignore it.
   */
  readonly originError: FilingsError | undefined;
}

/**
 * Returns the settings by the precedence flag > environment > profile > config file > default. Reads no file except the
 * config file: keys and tokens are read when they are needed. Throws `usage` or `config`.
 */
export async function resolveSettings(flags: Flags, world: World): Promise<ResolvedSettings> {
  const { runLayers, configLayers, configPath, configFlag } = await readLayers(flags, world);
  const rawSettings = resolvePrecedence([...runLayers, ...configLayers, createDefaultLayer()]);
  const settings = parseSettings(rawSettings, world);
  world.setDeadline(settings.deadline);
  const origin = settings.sandbox ? undefined : settings.baseUrl?.origin;
  const originError = origin === undefined ? undefined : findOriginError(rawSettings, configLayers, origin, configFlag);
  return { settings, rawSettings, configPath, originError };
}

/**
 * Returns the layers before any value is parsed: those of the run (flags, environment) and those of the config file
 * (profile, top level). The sandbox reads only a config file that flags or environment name, and nothing about the
 * service. Throws `usage` or `config`.
 */
export async function readLayers(flags: Flags, world: World) {
  const runLayers = [createFlagLayer(flags), createEnvLayer(world.env)];
  const location = locateConfig(flags, world);
  const usesSandbox = readSandboxSwitch(runLayers);
  const file = usesSandbox && !location.isNamed ? undefined : await readConfigFile(location, world);
  const sections = file ? [file.values, ...Object.values(file.profiles)] : [];
  for (const section of sections) registerSecretSettings(section, world);
  const profile = findProfile(location, file);
  const configLayers = file ? createFileLayers(file.path, file.values, profile) : [];
  const filter = (layer: Layer) => (usesSandbox ? removeServiceSettings(layer) : layer);
  return {
    runLayers: runLayers.map(filter),
    configLayers: configLayers.map(filter),
    configPath: file?.path,
    configFlag: toConfigFlag(location),
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
 * Returns an error if a credential of the config file would be sent to another origin than its own, which is the origin
 * of the base URL in its section. A profile inherits the base URL of the top level. A credential from flags or
 * environment may be sent to any origin, because the user gave it for this run.
 */
function findOriginError(rawSettings: Layer, configLayers: readonly Layer[], origin: string, configFlag: string) {
  for (const { name, credential } of SETTINGS) {
    const setting = rawSettings.get(name);
    // Only a setting of the config file has a directory.
    if (!credential || !setting?.directory) continue;
    // The last layer is the top level. A credential there does not belong to the base URL of a profile.
    const ownLayers = setting.profile === undefined ? configLayers.slice(-1) : configLayers;
    const baseUrl = String(findInLayers(ownLayers, 'baseUrl')?.value);
    const ownOrigin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
    if (ownOrigin === origin) continue;
    const { label, alternatives } = CREDENTIALS[credential];
    const command = `filings config set base-url ${origin}${configFlag}`;
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
 * Returns whether the run uses the sandbox. This is parsed before everything else, because it decides which settings
 * are ignored. Throws `usage`.
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

/** Returns what a command in a hint needs to find the same config file. */
function toConfigFlag({ path, isNamed }: ConfigLocation): string {
  return isNamed && path !== undefined ? ` --config ${shellWord(path)}` : '';
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
  const unset = location.profile === undefined ? `filings config unset profile${toConfigFlag(location)}` : undefined;
  throw new FilingsError('config', `no such profile: ${reason}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? unset,
  });
}
