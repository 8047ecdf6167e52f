import type { ArgumentSpec, CommandSpec } from '../spec/command.ts';

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
      ['filings config set api-key', 'set its key: it is asked for, and not shown'],
    ],
  };
}

/** A command with its place in the tree: `['token', 'sign']`. */
export interface CommandPlace {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
}

export function commandPlaces(commands: readonly CommandSpec[], path: readonly string[] = []): readonly CommandPlace[] {
  return commands.flatMap((spec) => {
    const own = [...path, spec.name];
    return [{ path: own, spec }, ...commandPlaces(spec.children ?? [], own)];
  });
}

/** `filings token sign [OPTION...]`, one for each of its forms. */
export function usagesOf({ path, spec }: CommandPlace): readonly string[] {
  const usual = spec.children ? 'COMMAND ...' : (spec.arguments ?? []).map(argumentTerm).join(' ');
  const { forms = [spec.defaultChild === undefined ? usual : `[${usual}]`] } = spec;
  return forms.map((form) => ['filings', ...path, '[OPTION...]', form].join(' ').trimEnd());
}

/** `[ACCESSION...]`. */
export function argumentTerm({ name, variadic, required }: ArgumentSpec): string {
  const words = `${name}${variadic ? '...' : ''}`;
  return required ? words : `[${words}]`;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
