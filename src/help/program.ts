import type { ArgumentSpec, CommandSpec } from '../spec/command.ts';

// Describes the whole program for help and manual: its spec, the tree of its commands, and the usage of each.

export const PURPOSE =
  'Lists and downloads the files of company filings, and mints and checks the JWTs their service takes.';

export function programSpec(commands: readonly CommandSpec[]): CommandSpec {
  return {
    name: 'filings',
    summary: 'list and download the files of company filings',
    description: ['Data goes to stdout; everything meant for a person goes to stderr.'],
    children: commands,
    examples: [
      ['filings list 0001234567-24-000001 --sandbox', 'the sample filings, without an account'],
      ['filings download 0001234567-24-000001 primary.htm --sandbox', 'one file, into the working directory'],
      ['filings config set base-url https://api.example.com', 'set the address of the service'],
      ['filings config set api-key', 'set its key, which is read without showing it'],
    ],
  };
}

/** A command with its path in the tree of commands, such as `['token', 'sign']`. */
export interface CommandNode {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
}

/** Returns all commands with their paths, each before its own subcommands. */
export function commandNodes(commands: readonly CommandSpec[], path: readonly string[] = []): readonly CommandNode[] {
  return commands.flatMap((spec) => {
    const own = [...path, spec.name];
    return [{ path: own, spec }, ...commandNodes(spec.children ?? [], own)];
  });
}

/** Returns the usage of a command, such as `filings token sign [OPTION...]`, once for each of its forms. */
export function usagesOf({ path, spec }: CommandNode): readonly string[] {
  const usual = spec.children ? 'COMMAND ...' : (spec.arguments ?? []).map(argumentTerm).join(' ');
  const { forms = [spec.defaultChild === undefined ? usual : `[${usual}]`] } = spec;
  return forms.map((form) => ['filings', ...path, '[OPTION...]', form].join(' ').trimEnd());
}

/** Returns the term of an argument, such as `[ACCESSION...]`. */
export function argumentTerm({ name, variadic, required }: ArgumentSpec): string {
  const words = `${name}${variadic ? '...' : ''}`;
  return required ? words : `[${words}]`;
}

/** Returns a text as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
