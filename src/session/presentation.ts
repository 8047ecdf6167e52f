import { envLayer, flagLayer } from '../settings/layers.ts';
import { resolveSettings } from '../settings/resolve.ts';
import type { Settings } from '../settings/settings.ts';
import { SETTINGS, SHARED_OPTIONS } from '../settings/table.ts';
import type { World } from '../world.ts';

/** How an error is shown. */
export type Presentation = Pick<Settings, 'errorFormat' | 'color' | 'verbose'>;

type Flags = Readonly<Record<string, string | boolean | undefined>>;

const WANTED = ['config', 'profile', 'sandbox', 'errorFormat', 'color', 'verbose'];

/**
 * How to show an error, whatever is wrong with the rest of the settings: from all of them
 * where they can be resolved, otherwise from flags and environment. Never throws.
 */
export async function presentationOf(flags: Flags, world: World): Promise<Presentation> {
  const relevant = Object.fromEntries(Object.entries(flags).filter(([key]) => WANTED.includes(key)));
  try {
    return (await resolveSettings(relevant, world)).settings;
  } catch {
    // No path is among these: the working directory, which may be what is wrong, does not matter.
    const layers = [flagLayer(relevant, '/'), envLayer(world.env, '/')];
    const choice = <T extends string>(key: string, otherwise: T) =>
      layers.map((layer) => layer.get(key)?.value).find((value) => choicesOf(key).includes(String(value))) ?? otherwise;
    return {
      errorFormat: choice('errorFormat', 'text') as Settings['errorFormat'],
      color: choice('color', 'auto') as Settings['color'],
      verbose: relevant.verbose === true,
    };
  }
}

function choicesOf(key: string): readonly string[] {
  return SETTINGS.find((spec) => spec.key === key)?.kind.choices ?? [];
}

/** The flags that matter here, from a command line that could not be parsed. */
export function scanFlags(argv: readonly string[]): Flags {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  const flags: Record<string, string | boolean | undefined> = {};
  for (const { key, flag, value } of SHARED_OPTIONS) {
    if (!WANTED.includes(key)) continue;
    const given = words.findLastIndex((word) => word === `--${flag}` || word.startsWith(`--${flag}=`));
    const word = words[given];
    if (value === undefined) flags[key] = word !== undefined || undefined;
    else flags[key] = word?.includes('=') ? word.slice(word.indexOf('=') + 1) : words[given + 1 || words.length];
  }
  if (words.some((word) => /^-[a-z0]*v/i.test(word) && !word.startsWith('--'))) flags.verbose = true;
  return flags;
}
