import { COMMANDS } from './cli/catalogue.ts';
import { answerAtHand } from './commands/completion/at-hand.ts';

/** What a shell asks, where the answer is at hand (see `answerAtHand`): `bin` loads this before the program. */
export const answer = (world: Parameters<typeof answerAtHand>[0]) => answerAtHand(world, COMMANDS);
