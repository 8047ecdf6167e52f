import { statSync } from 'node:fs';
import { locateConfig } from '../settings/config-file.ts';
import { defaultLayer, envLayer, flagLayer, type Layer } from '../settings/layers.ts';
import { readLevels } from '../settings/resolve.ts';
import { type SettingValues, TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { write } from '../stdio/output.ts';
import { colors, createLogger, usesColor } from '../terminal/messages.ts';
import type { World } from '../world.ts';

const SHOWING = ['errorFormat', 'color', 'verbose', 'quiet'] as const;
type Presentation = Pick<SettingValues, (typeof SHOWING)[number]>;

/**
 * Of each the first value that can be read, whatever is wrong with the command line or the rest of the settings. Never
 * throws.
 */
export async function presentationOf(flags: Flags, world: World): Promise<Presentation> {
  const layers = [flagLayer(flags), envLayer(world.env), ...(await levelsInFile(flags, world)), defaultLayer()];
  const first = (key: keyof Presentation): unknown => {
    const values = layers.map((layer) => TABLE[key].kind.parse(String(layer.get(key)?.value)));
    return values.find((value) => value !== undefined);
  };
  return Object.fromEntries(SHOWING.map((key) => [key, first(key)])) as unknown as Presentation;
}

async function levelsInFile(flags: Flags, world: World): Promise<readonly Layer[]> {
  try {
    const { path } = locateConfig(flags, world);
    // An error must not wait for a pipe that the command has not read.
    if (path === undefined || !(world.configFiles.has(path) || statSync(path).isFile())) return [];
    return (await readLevels(flags, world)).inFile;
  } catch {
    return [];
  }
}

export async function tell(
  kind: 'note' | 'warning',
  text: string | undefined,
  flags: Flags,
  world: World,
): Promise<void> {
  if (text === undefined) return;
  const presentation = await presentationOf(flags, world);
  createLogger(presentation, world.secrets, (line) => world.stderr.write(line))(kind, text);
}

/** On a terminal aligned below headings, with nothing cut; otherwise a line each, TAB between. */
export async function writeRecords(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  flags: Flags,
  world: World,
): Promise<void> {
  const { stdout, env, interrupt } = world;
  let lines = rows.map((cells) => cells.join('\t').trimEnd());
  if (stdout.isTTY) {
    const { aligned } = await import('../terminal/table.ts');
    const { faint } = colors(usesColor((await presentationOf(flags, world)).color, stdout, env.TERM));
    const filled = headings.map((heading, index) => (rows.some((cells) => cells[index]) ? heading : ''));
    const [head = '', ...records] = aligned([filled, ...rows]);
    lines = [faint(head), ...records];
  }
  await write(stdout, lines.map((line) => `${line}\n`).join(''), interrupt);
}
