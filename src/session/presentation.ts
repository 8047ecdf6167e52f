// Finds out how to show messages (format, color and verbosity), and prints messages and rows of cells. It works even if
// the command line or the settings are invalid, because it decides how the errors about them are shown.
import { statSync } from 'node:fs';
import { locateConfig } from '../settings/config-file.ts';
import { createDefaultLayer, createEnvLayer, createFlagLayer, type Layer } from '../settings/layers.ts';
import { readLayers } from '../settings/resolve.ts';
import { type SettingValues, TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { write } from '../stdio/output.ts';
import { createLogger, createPalette, usesColor } from '../terminal/messages.ts';
import type { World } from '../world.ts';

const PRESENTATION_KEYS = ['errorFormat', 'color', 'verbose', 'quiet'] as const;
type Presentation = Pick<SettingValues, (typeof PRESENTATION_KEYS)[number]>;

/** Returns the first valid value of each setting by precedence, and ignores invalid ones. Never throws. */
export async function readPresentation(flags: Flags, world: World): Promise<Presentation> {
  const layers = [
    createFlagLayer(flags),
    createEnvLayer(world.env),
    ...(await readFileLayers(flags, world)),
    createDefaultLayer(),
  ];
  const firstValid = (key: keyof Presentation): unknown => {
    // Without a setting, the string is `undefined`, which none of these kinds accepts.
    const values = layers.map((layer) => TABLE[key].kind.parse(String(layer.get(key)?.value)));
    return values.find((value) => value !== undefined);
  };
  return Object.fromEntries(PRESENTATION_KEYS.map((key) => [key, firstValid(key)])) as unknown as Presentation;
}

async function readFileLayers(flags: Flags, world: World): Promise<readonly Layer[]> {
  try {
    const { path } = locateConfig(flags, world);
    // If the config file is a pipe that has not been read yet, reading it could delay the error forever.
    if (path === undefined || !(world.configFiles.has(path) || statSync(path).isFile())) return [];
    return (await readLayers(flags, world)).configLayers;
  } catch {
    // The command itself reports an invalid config file.
    return [];
  }
}

/** Prints a message to stderr. Does nothing if the text is undefined. */
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

/** Writes rows to stdout: a table with headings on a terminal, otherwise cells separated by tabs. */
export async function writeRecords(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  flags: Flags,
  world: World,
): Promise<void> {
  const { stdout, env, interrupt } = world;
  let lines = rows.map((cells) => cells.join('\t').trimEnd());
  if (stdout.isTTY) {
    const { formatTable } = await import('../terminal/table.ts');
    const { faint } = createPalette(usesColor((await readPresentation(flags, world)).color, stdout, env.TERM));
    const [head = '', ...records] = formatTable([headings, ...rows]);
    lines = [faint(head), ...records];
  }
  await write(stdout, lines.map((line) => `${line}\n`).join(''), interrupt);
}
