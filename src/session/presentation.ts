// How a run shows messages, hints and tables. The settings for that are found even if the command line or other
// settings are invalid, because the errors about them must be shown as well.
import { statSync } from 'node:fs';
import type { FilingsError } from '../errors.ts';
import { locateConfig } from '../settings/config-file.ts';
import { createDefaultLayer, createRunLayers, findInLayers, type Layer } from '../settings/layers.ts';
import { loadLayers } from '../settings/resolve.ts';
import { type SettingName, type SettingValues, TABLE } from '../settings/table.ts';
import type { Flags } from '../spec/command.ts';
import { write } from '../stdio/output.ts';
import { createLogger } from '../terminal/messages.ts';
import { shellWord } from '../text.ts';
import type { World } from '../world.ts';

/** Takes the first valid value of each setting from the layers. Never throws. */
export async function readPresentation(flags: Flags, world: World) {
  const configLayers = await readConfigLayers(flags, world);
  const layers = [...createRunLayers(flags, world.env), ...configLayers, createDefaultLayer()];
  const firstValid = <Name extends SettingName>(name: Name) => {
    // Without the setting, the string is `undefined`, which is not a valid value.
    const values = layers.map((layer) => TABLE[name].kind.parse(String(layer.get(name)?.value)));
    return values.find((value) => value !== undefined) as SettingValues[Name];
  };
  const profile = findInLayers(layers, 'profile')?.value;
  return {
    errorFormat: firstValid('errorFormat'),
    color: firstValid('color'),
    verbose: firstValid('verbose'),
    quiet: firstValid('quiet'),
    profile: typeof profile === 'string' ? profile : undefined,
  };
}

/**
 * Adds this run's --sandbox, --config and --profile to the commands in the hint.
 *
 * @param selected the profile of the run. If the config file selects it, `config set` would still change the top level.
 */
export function addFlagsToHint(
  error: FilingsError,
  { sandbox, config, profile }: Flags,
  selected: unknown = profile,
): FilingsError {
  const format = (name: string, value: unknown) => (value === undefined ? '' : ` --${name} ${shellWord(`${value}`)}`);
  // Only these commands need the flags. The first three patterns match, and so skip, an escaped quote, an apostrophe in
  // a word, and whatever is in quotes, such as 'filings list' in a message of the service.
  const commands =
    /\\'|\w'\w|'[^']*'|\bfilings (config set base-url|config|download|list|token sign) (?![\w ]*--help)/g;
  const hint = error.hint?.replaceAll(commands, (match, command) => {
    if (command === undefined) return match;
    // settings/resolve.ts has added --profile if that is where the base URL belongs.
    const named = command === 'config' ? selected : profile;
    const profileFlag = command === 'config set base-url' ? '' : format('profile', named);
    return `filings${sandbox ? ' --sandbox' : ''}${format('config', config)}${profileFlag} ${command} `;
  });
  return error.with({ hint });
}

async function readConfigLayers(flags: Flags, world: World): Promise<readonly Layer[]> {
  try {
    const { path } = locateConfig(flags, world);
    // A pipe, as in `--config <(command)`, can be read only once, and could take forever.
    if (path === undefined || !statSync(path).isFile()) return [];
    return (await loadLayers(flags, world)).configLayers;
  } catch {
    // The command itself reports an invalid config file.
    return [];
  }
}

/** This is for commands without a session. The `progress` of a session prints messages. */
export async function printMessage(kind: 'note' | 'warning', text: string, flags: Flags, world: World): Promise<void> {
  const presentation = await readPresentation(flags, world);
  createLogger(presentation, world.secrets, (line) => world.stderr.write(line))(kind, text);
}

/** Writes a table with headings to a terminal, and otherwise cells separated by tabs. */
export async function writeRecords(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  flags: Flags,
  world: World,
): Promise<void> {
  if (world.stdout.isTTY) {
    const { printTable } = await import('../terminal/table.ts');
    return printTable([headings, ...rows], await readPresentation(flags, world), world);
  }
  // Empty cells at the end of a row get no tabs.
  const lines = rows.map((cells) => `${cells.join('\t').trimEnd()}\n`);
  await write(world.stdout, lines.join(''), world.interrupt);
}
