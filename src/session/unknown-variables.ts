import { statSync } from 'node:fs';
import { locateConfig } from '../settings/file/location.ts';
import { SETTINGS } from '../settings/table.ts';
import { didYouMean } from '../spec/nearest.ts';
import { write } from '../stdio/output.ts';
import type { Presentation, World } from '../world.ts';
import { presentationOf, scanFlags } from './presentation.ts';

/** Warns of variables that begin as the program's and that nothing reads: a misspelt one would silently not count. */
export async function warnOfUnknownVariables(world: World): Promise<void> {
  const known = SETTINGS.flatMap(({ env }) => env ?? []);
  const unknown = Object.keys(world.env).filter(
    (name) => name.startsWith('FILINGS_') && world.env[name] !== '' && !known.includes(name),
  );
  if (unknown.length === 0) return;
  const { createTeller } = await import('../terminal/teller.ts');
  const lines: string[] = [];
  const presentation = await presentationNow(world);
  const tell = createTeller({ ...presentation, secrets: world.secrets }, (line) => lines.push(line));
  for (const name of unknown.sort()) {
    tell('warning', `${name} is not used: ${didYouMean(name, known) ?? "see 'filings help environment'"}`);
  }
  await write(world.stderr, lines.join(''));
}

/** A config file that is a pipe can be read but once: that is the command's. */
async function presentationNow(world: World): Promise<Presentation> {
  const flags = scanFlags(world.argv);
  const { path } = locateConfig(flags, world).location;
  const isPlain = path === undefined || statSync(path, { throwIfNoEntry: false })?.isFile() !== false;
  return presentationOf(isPlain ? flags : { ...flags, config: '/dev/null' }, world);
}
