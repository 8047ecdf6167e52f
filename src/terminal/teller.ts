import type { Secrets } from '../secrets.ts';
import { printable, printableJson } from './printable.ts';

export interface TellerOptions {
  readonly errorFormat: 'text' | 'json';
  readonly quiet: boolean;
  readonly secrets: Secrets;
}

/** Says one line besides the errors. Where lines are JSON objects, the member's name is the kind; a warning is a note. */
export type Teller = (kind: 'note' | 'warning' | 'trace' | 'log', text: string) => void;

/**
 * Makes what is said on stderr besides errors free of secrets and harmless to a terminal; JSON objects where errors
 * are. `put` writes a finished line.
 */
export function createTeller({ errorFormat, quiet, secrets }: TellerOptions, put: (line: string) => void): Teller {
  return (kind, text) => {
    if (quiet) return;
    const clear = secrets.redact(text);
    const [member, line, name] =
      kind === 'warning' ? (['note', `warning: ${clear}`, 'filings: '] as const) : ([kind, clear, ''] as const);
    put(errorFormat === 'json' ? `${printableJson({ [member]: line })}\n` : `${name}${printable(line)}\n`);
  };
}
