import { SETTINGS } from '../settings/table.ts';
import { didYouMean } from '../spec/nearest.ts';
import { write } from '../stdio/output.ts';
import type { World } from '../world.ts';
import { presentationAtHand } from './report-error.ts';

/** Warns of variables that begin as the program's and that nothing reads: a misspelt one would silently not count. */
export async function warnOfUnknownVariables(world: World): Promise<void> {
  const known = SETTINGS.flatMap(({ env }) => env ?? []);
  const unknown = Object.keys(world.env).filter(
    (name) => name.startsWith('FILINGS_') && world.env[name] !== '' && !known.includes(name),
  );
  if (unknown.length === 0) return;
  const { createTeller } = await import('../terminal/teller.ts');
  const lines: string[] = [];
  const presentation = await presentationAtHand(world);
  const tell = createTeller({ ...presentation, secrets: world.secrets }, (line) => lines.push(line));
  for (const name of unknown.sort()) {
    tell('warning', `${name} is not used: ${didYouMean(name, known) ?? "see 'filings help environment'"}`);
  }
  await write(world.stderr, lines.join(''));
}
