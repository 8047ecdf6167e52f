import { completionSpec } from '../commands/completion/spec.ts';
import { CONFIG } from '../commands/config/spec.ts';
import { DOWNLOAD } from '../commands/download/spec.ts';
import { helpSpec } from '../commands/help/spec.ts';
import { LIST } from '../commands/list/spec.ts';
import { SERVE } from '../commands/serve/spec.ts';
import { TOKEN } from '../commands/token/spec.ts';
import { VERIFY } from '../commands/verify/spec.ts';
import type { CommandSpec } from '../spec/command.ts';

const all = () => COMMANDS;
const WORKING: readonly CommandSpec[] = [LIST, DOWNLOAD, VERIFY, TOKEN, SERVE, CONFIG, completionSpec(all)];

/** Every command, in the order in which help shows them. */
export const COMMANDS: readonly CommandSpec[] = [...WORKING, helpSpec(WORKING, all)];
