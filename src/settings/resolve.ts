import { dirname } from 'node:path';
import { FilingsError } from '../errors.ts';
import { SWITCH } from '../spec/kind.ts';
import { didYouMean } from '../spec/nearest.ts';
import { readAs } from '../spec/option.ts';
import { requireOneUser } from '../stdio/input.ts';
import type { World } from '../world.ts';
import { stdinUsers } from './credentials.ts';
import { locateConfig } from './file/location.ts';
import { type ConfigFile, readConfigFile } from './file/read.ts';
import { type ForeignCredential, foreignCredentials } from './foreign-credentials.ts';
import { configCommand } from './hint-command.ts';
import { rememberSettings } from './known-secrets.ts';
import { defaultLayer, envLayer, fileLayer, flagLayer, type Layer, winners } from './layers.ts';
import { readSettings, type Settings } from './settings.ts';
import { SETTINGS } from './table.ts';

export interface Resolved {
  readonly settings: Settings;
  /** What each of them was given as, and where it came from; secrets among them. */
  readonly given: Layer;
  /** Undefined when there is none. */
  readonly configPath: string | undefined;
  /** Credentials that are not to be sent to the service that was asked for. */
  readonly foreign: readonly ForeignCredential[];
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** What each level says, before any of it is read as a value. */
export interface Levels {
  /** Flags, then the environment; with `--sandbox` without what says which service. */
  readonly ofThisRun: readonly Layer[];
  /** The profile, then the top; none without a config file. */
  readonly inFile: readonly Layer[];
  readonly file: ConfigFile | undefined;
}

/**
 * Flag > environment > profile > config file > default. Reads the config file, and no secret.
 * @throws FilingsError `usage` or `config`, naming the source of what is wrong
 */
export async function resolveSettings(flags: Flags, world: World): Promise<Resolved> {
  const { ofThisRun, inFile, file } = await readLevels(flags, world);
  for (const level of file ? [file.values, ...Object.values(file.profiles)] : []) rememberSettings(level, world);
  const given = winners([...ofThisRun, ...inFile, defaultLayer(world.cwd)]);
  const settings = readSettings(given);
  requireOneUser('stdin', stdinUsers(given));
  const foreign = settings.sandbox ? [] : foreignCredentials(given, inFile, flags);
  return { settings, given, configPath: file?.path, foreign };
}

/**
 * As {@link resolveSettings}, no further than what each level says.
 * @throws FilingsError `usage` or `config`: the config file cannot be read, or has not what was named
 */
export async function readLevels(flags: Flags, world: World): Promise<Levels> {
  const ofThisRun = [flagLayer(flags, world.cwd), envLayer(world.env, world.cwd)];
  const sandbox = sandboxIn(ofThisRun);
  const ignored: ReadonlySet<string> = new Set(
    sandbox ? SETTINGS.filter((spec) => spec.service).map((spec) => spec.key) : [],
  );
  const { layers, file } = await fileLayers(flags, world, ignored);
  const used = (layer: Layer): Layer => new Map([...layer].filter(([key]) => !ignored.has(key)));
  return { ofThisRun: ofThisRun.map(used), inFile: layers.map(used), file };
}

/** `--sandbox` is needed before the rest: it says what of the rest counts. */
function sandboxIn(layers: readonly Layer[]): boolean {
  const given = layers.find((layer) => layer.has('sandbox'))?.get('sandbox');
  if (given === undefined) return false;
  const on = given.value === true || readAs(SWITCH, String(given.value), given.name);
  if (on && layers.some((layer) => layer.get('baseUrl')?.level === 'flag')) {
    throw new FilingsError('usage', `--base-url and ${given.name}: cannot be used together`, {
      hint: given.level === 'env' ? `omit --base-url, or unset ${given.name}` : 'remove one of them',
    });
  }
  return on;
}

async function fileLayers(flags: Flags, world: World, ignored: ReadonlySet<string>) {
  const named = locateConfig(flags, world);
  const file = await readConfigFile(named.location, world, ignored);
  const { profile, chosen } = profileOf(named.profile, file, flags);
  if (file === undefined) return { layers: [], file };
  const where = { directory: dirname(file.path), home: world.env.HOME };
  const layers = [
    fileLayer('profile', chosen, { ...where, prefix: `${file.path}: profiles.${profile}.`, profile: String(profile) }),
    fileLayer('file', file.values, { ...where, prefix: `${file.path}: ` }),
  ];
  return { layers, file };
}

/** The profile that is named, and what it says. */
function profileOf(named: string | undefined, file: ConfigFile | undefined, { config }: Flags) {
  const profile = named ?? file?.values.profile;
  if (profile === undefined) return { profile, chosen: {} };
  const profiles = file?.profiles ?? {};
  const chosen = Object.hasOwn(profiles, String(profile)) ? profiles[String(profile)] : undefined;
  if (chosen !== undefined) return { profile, chosen };
  const known = Object.keys(profiles);
  const where = file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'none'}`;
  const fix = configCommand('filings config unset profile', { config });
  throw new FilingsError('config', `profile ${profile}: no such profile: ${where}`, {
    hint:
      didYouMean(String(profile), known) ??
      (named === undefined ? fix : "'filings help config' shows how to write a profile"),
  });
}
