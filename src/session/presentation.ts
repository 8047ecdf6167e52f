import { envLayer, flagLayer } from '../settings/layers.ts';
import { presentationIn } from '../settings/presentation.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { SHARED_OPTIONS } from '../settings/table.ts';
import type { Presentation, World } from '../world.ts';

type Flags = Readonly<Record<string, string | boolean | undefined>>;

const WANTED = ['config', 'profile', 'sandbox', 'errorFormat', 'color', 'verbose', 'quiet'];

/**
 * How to show an error or a note: as was recorded when the settings were resolved; where nobody has done so yet, from
 * those settings that matter here. Whatever is wrong with the rest, flags and environment count. Never throws.
 */
export async function presentationOf(flags: Flags, world: World): Promise<Presentation> {
  const { shown } = world;
  if (shown.presentation !== undefined) return shown.presentation;
  const relevant = Object.fromEntries(Object.entries(flags).filter(([key]) => WANTED.includes(key)));
  try {
    return (await resolveSettings(relevant, world)).settings;
  } catch {
    // No path is among these: the working directory, which may be what is wrong, does not matter.
    shown.presentation ??= presentationIn([flagLayer(relevant, '/'), envLayer(world.env, '/')]);
    return shown.presentation;
  }
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
