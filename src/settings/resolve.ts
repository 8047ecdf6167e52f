import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs } from '../spec/option.ts';
import { requireOneUser } from '../stdio/input.ts';
import type { World } from '../world.ts';
import { type ConfigFile, locateConfig, readConfigFile } from './config-file.ts';
import { type CredentialFile, credentialFiles } from './credential-files.ts';
import { type ForeignCredential, foreignCredentials } from './foreign-credentials.ts';
import { configCommand } from './hint-command.ts';
import { rememberSettings } from './known-secrets.ts';
import { defaultLayer, envLayer, fileLayers, firstOf, flagLayer, type Layer, resolvePrecedence } from './layers.ts';
import { readSettings, type Settings, stdinUsers } from './settings.ts';
import { SETTINGS } from './table.ts';

export interface Resolved {
  readonly settings: Settings;
  /** Secrets are among them. */
  readonly given: Layer;
  readonly configPath: string | undefined;
  readonly credentialFiles: readonly CredentialFile[];
  readonly foreign: readonly ForeignCredential[];
}

/**
 * Flag > environment > profile > config file > default. Reads the config file, and no secret.
 * @param repairing a profile that the file itself names need not be there: whoever mends it wants to see the rest
 */
export async function resolveSettings(flags: Flags, world: World, repairing = false): Promise<Resolved> {
  const { ofThisRun, inFile, configPath } = await readLevels(flags, world, repairing);
  const given = resolvePrecedence([...ofThisRun, ...inFile, defaultLayer()]);
  const settings = readSettings(given, world);
  requireOneUser('stdin', stdinUsers(given));
  const foreign = settings.baseUrl ? foreignCredentials(given, inFile, settings.baseUrl.origin, flags) : [];
  return { settings, given, configPath, credentialFiles: credentialFiles([...ofThisRun, ...inFile], world), foreign };
}

/**
 * Each level before any of it is read as a value: flags and environment, with `--sandbox` without what says which
 * service; the profile and the top of the config file.
 */
export async function readLevels(flags: Flags, world: World, repairing = false) {
  const all = [flagLayer(flags), envLayer(world.env)];
  const sandbox = isSandbox(all);
  const unused = SETTINGS.filter(({ service }) => sandbox && service).map(({ key }): string => key);
  const ofThisRun = all.map((layer) => new Map([...layer].filter(([key]) => !unused.includes(key))));
  const location = locateConfig(flags, world);
  const file = await readConfigFile(location, world, sandbox);
  for (const level of file ? [file.values, ...Object.values(file.profiles)] : []) rememberSettings(level, world);
  const profile = profileOf(location.profile, file, flags, repairing);
  const inFile = file ? fileLayers(file.path, file.values, profile) : [];
  return { ofThisRun, inFile, configPath: file?.path };
}

/** `--sandbox` is needed before the rest: it says what of the rest counts. */
function isSandbox(layers: readonly Layer[]): boolean {
  const given = firstOf(layers, 'sandbox');
  if (given === undefined) return false;
  const on = given.value === true || readAs(SWITCH, String(given.value), given.name);
  if (on && firstOf(layers, 'baseUrl')?.level === 'flag') {
    throw new FilingsError('usage', 'cannot be used together', { subject: { name: `--base-url and ${given.name}` } });
  }
  return on;
}

function profileOf(named: string | undefined, file: ConfigFile | undefined, { config }: Flags, repairing: boolean) {
  const profile = named ?? file?.values.profile;
  if (profile === undefined) return undefined;
  const name = String(profile);
  const profiles = file?.profiles ?? {};
  const values = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (values) return { name, values };
  if (named === undefined && repairing) return undefined;
  const known = Object.keys(profiles);
  const where = file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'none'}`;
  const fix = named === undefined ? configCommand('filings config unset profile', { config }) : undefined;
  throw new FilingsError('config', `no such profile: ${where}`, {
    subject: { name: `profile ${name}` },
    hint: didYouMean(name, known) ?? fix,
  });
}
