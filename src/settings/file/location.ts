import { isAbsolute, join, resolve } from 'node:path';
import { readAs } from '../../spec/option.ts';
import type { World } from '../../world.ts';
import { envLayer, flagLayer, type Layer, sourceOf } from '../layers.ts';
import { TABLE } from '../table.ts';

/** Where the config file is; `named` when the user said so. */
export interface ConfigLocation {
  /** Absolute; undefined when there is no home either. */
  readonly path: string | undefined;
  readonly named: boolean;
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/**
 * The config file and the profile that a command line or the environment names, nothing read.
 * @throws FilingsError `usage` for an empty name
 */
export function locateConfig(flags: Flags, world: Pick<World, 'env' | 'cwd'>) {
  const layers = [flagLayer(flags, world.cwd), envLayer(world.env, world.cwd)];
  return { location: configLocation(textIn(layers, 'config'), world), profile: textIn(layers, 'profile') };
}

/** Where the config file is: the one named, else as the XDG Base Directory Specification has it. */
function configLocation(named: string | undefined, { env, cwd }: Pick<World, 'env' | 'cwd'>): ConfigLocation {
  // As everywhere: a file in which nothing is.
  if (named === '/dev/null') return { path: undefined, named: true };
  if (named !== undefined) return { path: resolve(cwd, named), named: true };
  const xdg = env.XDG_CONFIG_HOME;
  const base = xdg && isAbsolute(xdg) ? xdg : env.HOME && join(env.HOME, '.config');
  return { path: base ? join(base, 'filings', 'config.json') : undefined, named: false };
}

function textIn(layers: readonly Layer[], key: 'config' | 'profile'): string | undefined {
  const given = layers.find((layer) => layer.has(key))?.get(key);
  return given && readAs(TABLE[key].kind, String(given.value), sourceOf(given));
}
