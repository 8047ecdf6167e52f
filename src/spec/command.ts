import type { World } from '../world.ts';
import type { Completes } from './kind.ts';
import type { Options, Values } from './option.ts';

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
  /** Each works as written. */
  readonly examples?: readonly (readonly [command: string, what: string])[];
  /** It asks the service: its examples can be tried with FILINGS_SANDBOX=1. */
  readonly asksService?: true;
  /** The exit statuses that it has beside those of every command, such as `7`: a row of the one table each. */
  readonly exits?: readonly string[];
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

/** The settings given as flags, by their keys: raw, since other sources may say the same. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A parsed command line. The command's own options are read; of the settings nothing is resolved yet. */
export interface Invocation<O extends Options = Options> {
  readonly args: readonly string[];
  readonly options: Values<O>;
  readonly flags: Flags;
}

export interface CommandModule<O extends Options = Options> {
  run(invocation: Invocation<O>, world: World): Promise<number>;
}

export type ParsedLine =
  | {
      readonly kind: 'run';
      /** The command's own name: `sign`. */
      readonly name: string;
      readonly load: () => Promise<CommandModule>;
      readonly invocation: Invocation;
    }
  | {
      readonly kind: 'help';
      readonly about: string;
      readonly missing: boolean;
      readonly text: (columns: number) => string;
    }
  | { readonly kind: 'version' };

export type ParseLine = (argv: readonly string[]) => ParsedLine;
