import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { keepAnswer } from './answers.ts';
import { askForNames } from './ask.ts';
import { askerOf } from './asker.ts';
import { answerAtHand, linesOf } from './at-hand.ts';
import { offeredNames, wantedFiling } from './offered-names.ts';
import { readQuestion } from './question.ts';

/**
 * `filings completion --names SHELL -- WORD... BEGIN`: the names of a filing's files that may stand next on the line of
 * these words and begin so, one a line. Whatever goes wrong, it says nothing: a person is typing.
 */
export function names(commands: readonly CommandSpec[]): CommandModule {
  return {
    async run({ args }, world) {
      const text = await answered(args, commands, world).catch(() => '');
      await write(world.stdout, text).catch(() => {});
      return 0;
    },
  };
}

async function answered(args: readonly string[], commands: readonly CommandSpec[], world: World): Promise<string> {
  const atHand = await answerAtHand(world, commands);
  if (atHand !== undefined) return atHand;
  const asked = readQuestion(args, commands, world);
  const accession = asked && wantedFiling(asked.line);
  if (asked === undefined || accession === undefined) return '';
  const { flags } = asked.line;
  const answer = await askForNames(accession, flags, world);
  if (answer === undefined) return '';
  keepAnswer({ asker: await askerOf(accession, flags, world), ...answer }, world);
  return linesOf(offeredNames(answer.names, asked));
}
