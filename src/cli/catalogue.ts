import { COMPLETION } from '../commands/completion/spec.ts';
import { CONFIG } from '../commands/config/spec.ts';
import { DOWNLOAD } from '../commands/download/spec.ts';
import { LIST } from '../commands/list/spec.ts';
import { SERVE } from '../commands/serve/spec.ts';
import { TOKEN } from '../commands/token/spec.ts';
import { VERIFY } from '../commands/verify/spec.ts';
import type { CommandSpec } from '../spec/command.ts';

/** The help and the manual keep this order. */
export const COMMANDS: readonly CommandSpec[] = [LIST, DOWNLOAD, VERIFY, TOKEN, SERVE, CONFIG, COMPLETION];

/** `filings help config` is `filings config --help`. */
export const HELP_COMMAND: CommandSpec = { name: 'help', summary: 'show help for a command', children: COMMANDS };

export const PROGRAM: CommandSpec = {
  name: 'filings',
  summary: 'list and download the files of company filings, and mint and check the JWTs that the service accepts',
  description: ['Data goes to stdout, and messages go to stderr. Options can come before or after the command.'],
  children: COMMANDS,
  examples: [
    ['filings list 0001234567-24-000001 --sandbox', 'list a sample filing, without an account'],
    ['filings download 0001234567-24-000001 primary.htm --sandbox', 'download one file into the working directory'],
    ['filings config set base-url https://api.example.com', 'set the address of the service'],
    ['filings config set api-key', 'set your API key, which is not shown while you type'],
  ],
};
