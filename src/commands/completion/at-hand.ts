import type { CommandSpec } from '../../spec/command.ts';
import type { World } from '../../world.ts';
import { keptNames } from './answers.ts';
import { askerOf } from './asker.ts';
import { offeredNames, wantedFiling } from './offered-names.ts';
import { readQuestion } from './question.ts';

type Asked = Pick<World, 'argv' | 'env' | 'cwd' | 'uid' | 'now'>;

/**
 * What a shell asks while a person types (`completion --names ...`), where the answer is at hand; undefined: the program has
 * to run. So no more than this is loaded for it.
 */
export async function answerAtHand(world: Asked, commands: readonly CommandSpec[]): Promise<string | undefined> {
  const [command, what, ...rest] = world.argv;
  if (command !== 'completion' || what !== '--names') return undefined;
  const asked = readQuestion(rest, commands, world);
  const accession = asked && wantedFiling(asked.line);
  if (asked === undefined || accession === undefined) return '';
  const kept = keptNames(await askerOf(accession, asked.line.flags, world), world);
  return kept && linesOf(offeredNames(kept, asked));
}

export function linesOf(names: readonly string[]): string {
  return names.map((name) => `${name}\n`).join('');
}
