// Reads how to show messages: format, color and verbosity. It must work even if the command line or the settings are
// wrong, because their errors are shown with it.
import { statSync } from 'node:fs';
import { locateConfig } from '../settings/config-file.ts';
import { defaultLayer, envLayer, flagLayer, type Layer } from '../settings/layers.ts';
import { readLayers } from '../settings/resolve.ts';
import { type SettingValues, TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { write } from '../stdio/output.ts';
import { colors, createLogger, usesColor } from '../terminal/messages.ts';
import type { World } from '../world.ts';

const PRESENTATION_KEYS = ['errorFormat', 'color', 'verbose', 'quiet'] as const;
type Presentation = Pick<SettingValues, (typeof PRESENTATION_KEYS)[number]>;

/** Returns the highest valid value of each setting, and ignores every error in the others. Never throws. */
export async function readPresentation(flags: Flags, world: World): Promise<Presentation> {
  const layers = [flagLayer(flags), envLayer(world.env), ...(await layersInFile(flags, world)), defaultLayer()];
  const firstValid = (key: keyof Presentation): unknown => {
    const values = layers.map((layer) => TABLE[key].kind.parse(String(layer.get(key)?.value)));
    return values.find((value) => value !== undefined);
  };
  return Object.fromEntries(PRESENTATION_KEYS.map((key) => [key, firstValid(key)])) as unknown as Presentation;
}

async function layersInFile(flags: Flags, world: World): Promise<readonly Layer[]> {
  try {
    const { path } = locateConfig(flags, world);
    // A pipe that the command has not read must not delay an error.
    if (path === undefined || !(world.configFiles.has(path) || statSync(path).isFile())) return [];
    return (await readLayers(flags, world)).configLayers;
  } catch {
    return [];
  }
}

/** Prints a message to stderr, unless the text is undefined. */
export async function printMessage(
  kind: 'note' | 'warning',
  text: string | undefined,
  flags: Flags,
  world: World,
): Promise<void> {
  if (text === undefined) return;
  const presentation = await readPresentation(flags, world);
  createLogger(presentation, world.secrets, (line) => world.stderr.write(line))(kind, text);
}

/** Writes rows to stdout: aligned below headings on a terminal, otherwise with a tab between the cells. */
export async function writeRecords(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  flags: Flags,
  world: World,
): Promise<void> {
  const { stdout, env, interrupt } = world;
  let lines = rows.map((cells) => cells.join('\t').trimEnd());
  if (stdout.isTTY) {
    const { table } = await import('../terminal/table.ts');
    const { faint } = colors(usesColor((await readPresentation(flags, world)).color, stdout, env.TERM));
    const [head = '', ...records] = table([headings, ...rows]);
    lines = [faint(head), ...records];
  }
  await write(stdout, lines.map((line) => `${line}\n`).join(''), interrupt);
}
