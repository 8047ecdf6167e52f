import type { CommandSpec } from '../spec/command.ts';
import type { Invocation } from '../spec/invocation.ts';

/** What a command line asks for. Nothing is read or resolved yet. */
export type Request =
  | { readonly kind: 'run'; readonly command: CommandSpec; readonly invocation: Invocation }
  /** `missing`: no command was named where one is needed. */
  | { readonly kind: 'help'; readonly path: readonly string[]; readonly missing: boolean }
  | { readonly kind: 'version' };

/**
 * Answers the command lines that shells ask at their own start and people ask most, which need
 * no parser: loading one takes longer than answering them. Undefined for all others.
 */
export function plainRequest(argv: readonly string[], commands: readonly CommandSpec[]): Request | undefined {
  const [first = '', second = ''] = argv;
  if (argv.length === 1 && ['--version', '-V'].includes(first)) return { kind: 'version' };
  if (argv.length === 1 && ['--help', '-h'].includes(first)) return { kind: 'help', path: [], missing: false };
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
