import { SETTINGS } from '../settings/table.ts';
import { nearest } from '../spec/nearest.ts';
import { write } from '../stdio/output.ts';
import type { World } from '../world.ts';
import { presentationAtHand } from './report-error.ts';

const PREFIX = 'FILINGS_';

/** Warns of variables that begin as the program's and that nothing reads: a misspelt one would silently not count. */
export async function warnOfUnknownVariables(world: World): Promise<void> {
  const known = SETTINGS.flatMap(({ env }) => env?.slice(PREFIX.length) ?? []);
  const unknown = Object.keys(world.env).filter(
    (name) => name.startsWith(PREFIX) && world.env[name] !== '' && !known.includes(name.slice(PREFIX.length)),
  );
  if (unknown.length === 0) return;
  const { createTeller } = await import('../terminal/messages.ts');
  const lines: string[] = [];
  const presentation = await presentationAtHand(world);
  const tell = createTeller({ ...presentation, secrets: world.secrets }, (line) => lines.push(line));
  for (const name of unknown.sort()) {
    const meant = nearest(name.slice(PREFIX.length), known);
    const hint = meant === undefined ? "see 'filings help environment'" : `did you mean ${PREFIX}${meant}?`;
    tell('warning', `${name} is not used: ${hint}`);
  }
  await write(world.stderr, lines.join(''));
}
