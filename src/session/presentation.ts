import { statSync } from 'node:fs';
import { locateConfig } from '../settings/file/location.ts';
import { defaultLayer, envLayer, flagLayer, type Layer } from '../settings/layers.ts';
import { readLevels } from '../settings/resolve.ts';
import { SHARED_OPTIONS, TABLE } from '../settings/table.ts';
import type { World } from '../world.ts';

/** How errors, and what is said beside them, are shown. */
export interface Presentation {
  readonly errorFormat: 'text' | 'json';
  readonly color: 'auto' | 'always' | 'never';
  /** Adds causes, and the stack of a defect. */
  readonly verbose: boolean;
  /** Only errors. */
  readonly quiet: boolean;
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

const SHOWING = ['errorFormat', 'color', 'verbose', 'quiet'] as const;
const WANTED: readonly string[] = ['config', 'profile', 'sandbox', ...SHOWING];

/** How to show an error or a note: where the config file cannot be read, as flags and environment say. Never throws. */
export async function presentationOf(flags: Flags, world: World): Promise<Presentation> {
  const relevant = Object.fromEntries(Object.entries(flags).filter(([key]) => WANTED.includes(key)));
  // No path is among these: the working directory, which may be what is wrong, does not matter.
  const ofThisRun = [flagLayer(relevant, '/'), envLayer(world.env, '/')];
  return presentationIn([...ofThisRun, ...(await levelsInFile(relevant, world)), defaultLayer('/')]);
}

async function levelsInFile(flags: Flags, world: World): Promise<readonly Layer[]> {
  try {
    const { path } = locateConfig(flags, world).location;
    // A pipe can be read but once: that is the command's.
    if (path === undefined || !statSync(path).isFile()) return [];
    return (await readLevels(flags, world)).inFile;
  } catch {
    return [];
  }
}

/** Of each the first value that can be read, whatever is wrong with the rest of the settings. */
function presentationIn(layers: readonly Layer[]): Presentation {
  const first = (key: keyof Presentation): unknown => {
    const values = layers.map((layer) => TABLE[key].kind.parse(String(layer.get(key)?.value)));
    return values.find((value) => value !== undefined);
  };
  return Object.fromEntries(SHOWING.map((key) => [key, first(key)])) as unknown as Presentation;
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
