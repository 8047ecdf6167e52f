// Describes commands as data. The parser, the help, the manual and the completions are made from these descriptions, so
// that they never differ. An option belongs to one command. A setting, such as `--jobs`, applies to all commands, and
// may also come from the environment or the config file.
import type { World } from '../world.ts';
import type { CompletionSource } from './kind.ts';
import type { Options, Values } from './option.ts';

export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** One line without a capital and a period, for lists of commands. */
  readonly summary: string;
  /** The ways to call the command, if there are several, without its name and `[options]`: `ACCESSION FILE...`. */
  readonly usages?: readonly string[];
  /** Paragraphs that follow the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** Commands that work as written, each with a description. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  /**
   * If set, the help says that the examples also work with FILINGS_SANDBOX=1, which uses a built-in service with sample
   * files. It has no other effect.
   */
  readonly sendsRequests?: true;
  /** The subcommands. */
  readonly children?: readonly CommandSpec[];
  /** The name of the subcommand that runs if the command line names none. */
  readonly defaultChild?: string;
  /** Imports the code of the command, which is loaded only when it runs. A command with subcommands has no code. */
  readonly load?: () => Promise<CommandModule<O>>;
}

/** A positional argument. */
export interface ArgumentSpec {
  /** In capitals, as the help shows it: `ACCESSION`. */
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  /** Whether it may be repeated. Only the last argument may. */
  readonly variadic?: boolean;
  /** All valid values, if there is a fixed list of them. */
  readonly choices?: readonly string[];
  /** Values that the completions offer, although others are valid as well. */
  readonly suggests?: readonly string[];
  /** What the completions look up, such as file names. */
  readonly completes?: CompletionSource;
}

/**
 * Returns the spec unchanged. The compiler checks that `run` in the module accepts the options of the spec, and then
 * forgets their types, so that all commands fit in one list.
 */
export function defineCommand<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/**
 * The settings on the command line, unparsed: `--max-retry-after 5m -v` is `{ maxRetryAfter: '5m', verbose: true }`.
 * The options of a single command are not among them.
 */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** What `run` gets from the command line. */
export interface Invocation<O extends Options = Options> {
  /** The positional arguments. Those of a variadic one follow the others in the same list. */
  readonly args: readonly string[];
  /** The command's own options, parsed. */
  readonly options: Values<O>;
  /** For `resolveSettings`, which merges them with the other sources of settings. */
  readonly flags: Flags;
}

interface CommandModule<O extends Options = Options> {
  /**
   * Returns the exit status. This is a method, because TypeScript checks the parameters of methods less strictly. With
   * a property that has a function type, `defineCommand` could not return a `CommandSpec`.
   */
  run(invocation: Invocation<O>, world: World): Promise<number>;
}

/** What the command line tells the program to do. */
export type Action =
  | {
      readonly kind: 'run';
      /** The command's own name, such as `sign`. */
      readonly name: string;
      readonly load: () => Promise<CommandModule>;
      readonly invocation: Invocation;
    }
  | {
      readonly kind: 'help';
      /** The full name of the command, such as `filings token sign`. */
      readonly command: string;
      /** Whether the help is shown because the command line lacks a subcommand, which is an error. */
      readonly isCommandMissing: boolean;
      readonly text: string;
    }
  | { readonly kind: 'version' };

/** Returns the paragraphs of the description, beginning with the summary as a sentence. */
export function describeCommand({ summary, description = [] }: CommandSpec): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...description];
}
