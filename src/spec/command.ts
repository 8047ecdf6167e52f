// Describes commands as data. The parser, the help, the manual and the completions are made from these descriptions, so
// that they never differ.
import type { World } from '../world.ts';
import type { CompletionSource } from './kind.ts';
import type { Options, Values } from './option.ts';

export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** One line without a capital and a period, for lists of commands. */
  readonly summary: string;
  /** The lines of the usage, if it has several, each without the command and `[options]`: `ACCESSION FILE...`. */
  readonly usages?: readonly string[];
  /** Paragraphs that follow the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** Commands that work as written, each with a description. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  /** The help then says that the examples also work with FILINGS_SANDBOX=1. */
  readonly sendsRequests?: true;
  readonly children?: readonly CommandSpec[];
  /** The child that runs if the command line names none. */
  readonly defaultChild?: string;
  /** Imports the code of the command, which is loaded only when it runs. */
  readonly load?: () => Promise<CommandModule<O>>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  /** Values that the completions offer, although others are valid as well. */
  readonly suggests?: readonly string[];
  readonly completes?: CompletionSource;
}

/**
 * Returns the spec unchanged. The compiler checks that the `run` of its module accepts the options of the spec, and then
 * forgets their types, so that all commands fit in one list.
 */
export function defineCommand<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/** The settings on the command line, unparsed: `--max-retry-after 5m -v` is `{ maxRetryAfter: '5m', verbose: true }`. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** What `run` gets from the command line. */
export interface Invocation<O extends Options = Options> {
  readonly args: readonly string[];
  /** The command's own options, parsed. */
  readonly options: Values<O>;
  /** For `resolveSettings`, which merges them with the other sources of settings. */
  readonly flags: Flags;
}

interface CommandModule<O extends Options = Options> {
  /**
   * A method, because TypeScript is lenient with the parameters of methods. If this were a property, `defineCommand` could
   * not return a `CommandSpec`.
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
      /** Whether the help is shown because the line names no command, which is an error. */
      readonly isCommandMissing: boolean;
      readonly text: string;
    }
  | { readonly kind: 'version' };

/** Returns the paragraphs of the description, beginning with the summary as a sentence. */
export function describeCommand({ summary, description = [] }: CommandSpec): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...description];
}
