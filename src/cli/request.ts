import type { CommandSpec } from '../spec/command.ts';
import type { Invocation } from '../spec/invocation.ts';

/** What a command line asks for. Nothing is read or resolved yet. */
export type Request =
  | { readonly kind: 'run'; readonly command: CommandSpec; readonly invocation: Invocation }
  /** `brief`: by `-h`; `missing`: no command was named where one is needed. */
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly brief: boolean; readonly missing: boolean }
  | { readonly kind: 'version' };

/**
 * Answers the command lines that shells ask at their own start and people ask most, which need
 * no parser: loading one takes longer than answering them. Undefined for all others.
 */
export function plainRequest(argv: readonly string[], commands: readonly CommandSpec[]): Request | undefined {
  const [first = '', second = ''] = argv;
  if (argv.length === 1 && ['--version', '-V'].includes(first)) return { kind: 'version' };
  const help = plainHelp(argv, commands);
  if (help !== undefined) return help;
  const command = commands.find(({ name }) => name === first && name === 'completion');
  const answers = command?.asked?.[second];
  if (command !== undefined && answers !== undefined) {
    return {
      kind: 'run',
      command: { ...command, load: answers },
      invocation: { args: argv.slice(2), options: {}, flags: {} },
    };
  }
  const known = command?.arguments?.[0]?.choices?.includes(second);
  if (command === undefined || !known || argv.length !== 2) return undefined;
  return { kind: 'run', command, invocation: { args: [second], options: {}, flags: {} } };
}

/** `filings COMMAND... --help`, with nothing else on the line. */
function plainHelp(argv: readonly string[], commands: readonly CommandSpec[]): Request | undefined {
  const path = argv.slice(0, -1);
  const last = argv.at(-1);
  if (last !== '--help' && last !== '-h') return undefined;
  let known: readonly CommandSpec[] | undefined = commands;
  for (const word of path) {
    const command: CommandSpec | undefined = known?.find(({ name }) => name === word);
    if (command === undefined) return undefined;
    known = command.children;
  }
  return { kind: 'help', path, brief: last === '-h', missing: false };
}
