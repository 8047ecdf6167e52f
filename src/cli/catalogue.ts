// All commands of the program.
import { COMPLETION } from '../commands/completion/spec.ts';
import { CONFIG } from '../commands/config/spec.ts';
import { DOWNLOAD } from '../commands/download/spec.ts';
import { helpSpec } from '../commands/help/spec.ts';
import { LIST } from '../commands/list/spec.ts';
import { SERVE } from '../commands/serve/spec.ts';
import { TOKEN } from '../commands/token/spec.ts';
import { VERIFY } from '../commands/verify/spec.ts';
import type { CommandSpec } from '../spec/command.ts';
import { parseCommandLine } from './program.ts';

const OTHERS: readonly CommandSpec[] = [LIST, DOWNLOAD, VERIFY, TOKEN, SERVE, CONFIG, COMPLETION];

/** All commands in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  ...OTHERS,
  helpSpec(OTHERS, (argv) => parseCommandLine(argv, COMMANDS)),
];
