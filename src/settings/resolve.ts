import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type ConfigFile, configFolder, readConfigFile } from './config-file.ts';
import { namedPlace } from './config-place.ts';
import { defaultLayer, envLayer, fileLayer, flagLayer, type Layer, type Origin, winners } from './layers.ts';
import { didYouMean } from './nearest.ts';
import { SETTINGS } from './options.ts';
import type { Settings } from './settings.ts';
import { requireOneUser, stdinUsers } from './stdin.ts';
import { typedSettings } from './typed.ts';
import { readValue } from './values.ts';

export interface Resolved {
  readonly settings: Settings;
  /** Where each value that is set came from, by the settings' keys. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** What each of them was given as; secrets among them. */
  readonly given: Layer;
  /** The config file that was read. Absolute. */
  readonly configPath: string | undefined;
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Flag > environment > profile > config file > default. Reads the config file, and no secret.
 * @throws FilingsError `usage` or `config`, naming the source of what is wrong
 */
export async function resolveSettings(flags: Flags, world: World): Promise<Resolved> {
  const typed = [flagLayer(flags, world.cwd), envLayer(world.env, world.cwd)];
  const sandbox = sandboxIn(typed);
  const ignored = new Set(sandbox ? SETTINGS.filter((spec) => spec.service).map((spec) => spec.key) : []);
  const { file, layers } = await fileLayers(flags, ignored, world);
  const given = winners([...typed.map((layer) => without(layer, ignored)), ...layers, defaultLayer(world.cwd)]);
  const settings = typedSettings(given);
  requireOneUser('stdin', stdinUsers(settings));
  return {
    settings,
    given,
    origins: Object.fromEntries([...given].map(([key, { level, name }]) => [key, { level, name }])),
    configPath: file?.path,
  };
}

/** `--sandbox` is needed before the rest: it says what of the rest counts. */
function sandboxIn(typed: readonly Layer[]): boolean {
  const given = typed.find((layer) => layer.has('sandbox'))?.get('sandbox');
  if (given === undefined) return false;
  return given.value === true || readValue('switch', String(given.value), given.name);
}

function without(layer: Layer, ignored: ReadonlySet<string>): Layer {
  return new Map([...layer].filter(([key]) => !ignored.has(key)));
}

async function fileLayers(flags: Flags, ignored: ReadonlySet<string>, world: World) {
  const named = namedPlace(flags, world);
  const file = await readConfigFile(named.place, world, ignored);
  const profile = named.profile ?? file?.values.profile;
  const chosen = profile === undefined ? {} : profileIn(file, String(profile));
  if (file === undefined) return { file, layers: [] };
  const place = { folder: configFolder(file), home: world.env.HOME };
  return {
    file,
    layers: [
      fileLayer('profile', chosen, { ...place, prefix: `${file.path}: profiles.${profile}.` }),
      fileLayer('file', file.values, { ...place, prefix: `${file.path}: ` }),
    ],
  };
}

function profileIn(file: ConfigFile | undefined, name: string): Readonly<Record<string, unknown>> {
  const profiles = file?.profiles ?? {};
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const where = file === undefined ? 'there is no config file' : `${file.path} has ${known.join(', ') || 'none'}`;
  const hint = didYouMean(name, known) ?? "'filings help config' shows how to write a profile";
  throw new FilingsError('config', `profile ${name}: no such profile: ${where}`, { hint });
}
