import type { CommandModule } from './invocation.ts';
import type { Completes } from './kind.ts';
import type { Options } from './option.ts';

/** A command as data: its parser, help, man page and completions are made from it. */
export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** One line, for `-h` and wherever commands are listed. */
  readonly summary: string;
  /** What follows the options in its usage, where that has several forms. */
  readonly forms?: readonly string[];
  /** Paragraphs, for `--help` and the man page. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** Each works as written; `-h` shows the first five. */
  readonly examples?: readonly (readonly [command: string, what: string])[];
  /** It asks the service: its examples can be tried with FILINGS_SANDBOX=1. */
  readonly asksService?: true;
  /** What its exit statuses mean, where it is not the same for every command. */
  readonly exits?: readonly (readonly [status: string, meaning: string])[];
  readonly children?: readonly CommandSpec[];
  readonly defaultChild?: string;
  load?(): Promise<CommandModule<O>>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  /** Offered by the completions; others are taken too. */
  readonly suggests?: readonly string[];
  readonly completes?: Completes;
}

/** A command whose `run` gets what its options say: another name or type there does not compile. */
export function command<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}
