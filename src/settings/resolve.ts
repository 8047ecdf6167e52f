// Finds the settings of a run, and decides what depends on where a setting comes from: what the sandbox ignores, and
// where a credential may be sent.
import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { parseOrThrow } from '../spec/option.ts';
import { shellWord } from '../text.ts';
import type { World } from '../world.ts';
import {
  type ConfigFile,
  type ConfigLocation,
  findProfileValues,
  locateConfig,
  readConfigFile,
} from './config-file.ts';
import {
  createFileLayers,
  createRunLayers,
  findInLayers,
  type Layer,
  type Profile,
  type RawSettings,
  resolvePrecedence,
} from './layers.ts';
import { parseSettings, type Settings } from './settings.ts';
import { CREDENTIALS, SETTINGS } from './table.ts';

export interface ResolvedSettings {
  readonly settings: Settings;
  readonly rawSettings: RawSettings;
  readonly configPath: string | undefined;
  /** Why this run cannot send requests. Commands that only show settings ignore it. */
  readonly accessError: FilingsError | undefined;
}

/** Reads no file except the config file: keys and tokens are read when they are needed. */
export async function resolveSettings(flags: Flags, world: World): Promise<ResolvedSettings> {
  const { runLayers, configLayers, file, profile } = await loadLayers(flags, world);
  const rawSettings = resolvePrecedence([...runLayers, ...configLayers]);
  const settings = parseSettings(rawSettings, world);
  world.setDeadline(settings.deadline);
  const { sandbox, baseUrl } = settings;
  let accessError: FilingsError | undefined;
  if (!sandbox && !baseUrl) accessError = noBaseUrlError(profile, world);
  if (baseUrl) accessError = findOriginError(rawSettings, baseUrl.origin, file, profile, world);
  return { settings, rawSettings, configPath: file?.path, accessError };
}

/** Both lists of layers begin with the highest. */
export async function loadLayers(flags: Flags, world: World) {
  const runLayers = createRunLayers(flags, world.env);
  const location = locateConfig(flags, world);
  const usesSandbox = readSandboxSwitch(runLayers);
  // A profile from the environment is for runs that read a config file, and the sandbox reads none unless it is named.
  const readsFile = !usesSandbox || location.isNamed;
  const file = readsFile ? await readConfigFile(location, world) : undefined;
  const profile = readsFile || flags.profile !== undefined ? findProfile(location, file, world) : undefined;
  const configLayers = file ? createFileLayers(file.path, file.values, profile) : [];
  const removeIgnored = (layer: Layer) => (usesSandbox ? removeServiceSettings(layer) : layer);
  return { runLayers: runLayers.map(removeIgnored), configLayers: configLayers.map(removeIgnored), file, profile };
}

function removeServiceSettings(layer: Layer): Layer {
  const removed = SETTINGS.filter(({ ignoredBySandbox, credential }) => ignoredBySandbox || credential);
  const names: ReadonlySet<string> = new Set(removed.map(({ name }) => name));
  return new Map([...layer].filter(([name]) => !names.has(name)));
}

/** The command works when it is pasted: `addFlagsToHint` in session/presentation.ts adds --config to it. */
function formatSetBaseUrl(url: string, profile: string | undefined, { env }: World): string {
  const command = `filings config set base-url ${url}`;
  if (profile !== undefined) return `${command} --profile ${shellWord(profile)}`;
  // Otherwise the variable would make it set the base URL of that profile.
  return env.FILINGS_PROFILE ? `FILINGS_PROFILE= ${command}` : command;
}

function noBaseUrlError(profile: Profile | undefined, world: World): FilingsError {
  // Profiles inherit the base URL of the top level, unless it is null in them.
  const owningProfile = profile?.values.baseUrl === null ? profile.name : undefined;
  return new FilingsError('config', "no base URL: the service's address is not set", {
    hint: `set it with ${formatSetBaseUrl('URL', owningProfile, world)}, --base-url URL or FILINGS_BASE_URL; or try --sandbox`,
  });
}

/**
 * A credential of the config file is sent only to the origin of the base URL in its own section: a profile inherits the
 * base URL of the top level, but not the other way round. Without a base URL, it is not sent at all. A credential from
 * flags or environment may be sent to any origin, because the user gave it for this run.
 *
 * @param origin to which the run sends its requests
 */
function findOriginError(
  rawSettings: RawSettings,
  origin: string,
  file: ConfigFile | undefined,
  profile: Profile | undefined,
  world: World,
): FilingsError | undefined {
  for (const { name, credential } of SETTINGS) {
    const setting = rawSettings.get(name);
    // Only a setting of the config file has a directory.
    if (!credential || !setting?.directory) continue;
    const ownProfile = setting.sourceKind === 'profile' ? profile : undefined;
    // Without a base URL, or with null in the profile, this is a string that is not a URL.
    const baseUrl = String({ ...file?.values, ...ownProfile?.values }.baseUrl);
    const ownOrigin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
    if (ownOrigin === origin) continue;
    const { label, alternatives } = CREDENTIALS[credential];
    const command = formatSetBaseUrl(origin, ownProfile?.name, world);
    const [reason, hint] =
      ownOrigin === undefined
        ? ['the config file has no baseUrl for it', `if the ${label} is for this host, run: ${command}`]
        : [`the ${label} is for ${ownOrigin}`, `for this host use ${alternatives}`];
    const subject = { name: setting.setBy };
    return new FilingsError('config', `not sent to ${origin}, because ${reason}`, { subject, hint });
  }
  return undefined;
}

/**
 * Parsed before all other settings, because it decides which of them are ignored. A base URL from the environment is
 * ignored, because it may be meant for other runs.
 */
function readSandboxSwitch(layers: readonly Layer[]): boolean {
  const setting = findInLayers(layers, 'sandbox');
  if (setting === undefined) return false;
  const isOn = setting.value === true || parseOrThrow(SWITCH, String(setting.value), setting.setBy);
  if (isOn && findInLayers(layers, 'baseUrl')?.sourceKind === 'flag') {
    throw new FilingsError('usage', `--base-url cannot be used with ${setting.setBy}`);
  }
  return isOn;
}

function findProfile({ profile }: ConfigLocation, file: ConfigFile | undefined, world: World): Profile | undefined {
  const selected = profile ?? file?.values.profile;
  if (selected === undefined) return undefined;
  const name = String(selected);
  const values = file && findProfileValues(file, name);
  if (values) return { name, values };
  const known = Object.keys(file?.profiles ?? {});
  const reason =
    file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'no profiles'}`;
  // If nothing else selects the profile, the config file does.
  const mend =
    profile === undefined ? 'filings config unset profile' : `to create it: ${formatSetBaseUrl('URL', name, world)}`;
  throw new FilingsError('config', `no such profile: ${reason}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? mend,
  });
}
