import type { OptionSpec } from '../settings/options.ts';
import type { CommandModule } from './invocation.ts';

/** A command as data: its parser, help, man page and completions are made from it. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** More about it, a paragraph each, for help and the man page. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples?: readonly (readonly [command: string, what: string])[];
  readonly children?: readonly CommandSpec[];
  /** The child that runs when none is named. */
  readonly defaultChild?: string;
  /** The module is loaded when the command is chosen. */
  readonly load?: () => Promise<CommandModule>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  /** Offered by the completions; others are taken too. */
  readonly suggests?: readonly string[];
  readonly completes?: 'file' | 'directory';
}
