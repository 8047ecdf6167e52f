import { COMMANDS } from './cli/catalogue.ts';
import { plainRequest } from './cli/request.ts';
import { placed, programSpec } from './reference/describe.ts';
import { helpColumns, helpText } from './reference/help/text.ts';
import type { World } from './world.ts';

interface Asked extends Pick<World, 'argv' | 'env'> {
  readonly stdout: { readonly columns?: number };
}

/** What `COMMAND --help` and `-h` print, where nothing else is on the line: `bin` loads this before the program. */
export function answer({ argv, env, stdout }: Asked): string | undefined {
  const request = plainRequest(argv, COMMANDS);
  return request?.kind === 'help' ? helpText(COMMANDS, request, helpColumns(stdout, env)) : undefined;
}

/** All of these command lines. The build keeps what they print where no terminal and no COLUMNS says how wide it is. */
export function lines(): readonly string[][] {
  const paths = [{ path: [], spec: programSpec(COMMANDS) }, ...placed(COMMANDS)].map(({ path }) => path);
  return paths.flatMap((path) => ['-h', '--help'].map((flag) => [...path, flag]));
}
