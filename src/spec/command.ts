// Commands as data: the parser, the help, the manual and the completions are made from it, so they never differ.
import type { World } from '../world.ts';
import type { Kind } from './kind.ts';
import type { Options, Values } from './option.ts';

export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** Has no capital and no period, because lists of commands show it. */
  readonly summary: string;
  /** Each form without the name and `[options]`: `ACCESSION FILE...`. */
  readonly usages?: readonly string[];
  /** Paragraphs that follow the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** They work as written. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  /** The help says that the examples also work with FILINGS_SANDBOX=1. There is no other effect. */
  readonly sendsRequests?: true;
  /** If the reader of stdout closes the pipe, the exit status is 141 instead of 0. */
  readonly needsReader?: true;
  readonly children?: readonly CommandSpec[];
  /** Runs if the command line names no subcommand. */
  readonly defaultChild?: string;
  /** The code is loaded only when it runs. */
  readonly load?: () => Promise<CommandModule<O>>;
}

export interface ArgumentSpec extends Pick<Kind<string>, 'choices' | 'examples' | 'completes'> {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  /** Only the last argument may be variadic. */
  readonly variadic?: boolean;
}

/**
 * The compiler checks that `run` accepts the options of the spec, and then forgets their types, so that all commands
 * fit in one list.
 */
export function defineCommand<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/**
 * The settings on the command line, unparsed: `--max-retry-after 5m -v` is `{ maxRetryAfter: '5m', verbose: true }`.
 */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

export interface Invocation<O extends Options = Options> {
  /** The arguments of a variadic one follow the others in the same list. */
  readonly args: readonly string[];
  /** The command's own options, parsed. */
  readonly options: Values<O>;
  readonly flags: Flags;
}

interface CommandModule<O extends Options = Options> {
  /**
   * A method, because TypeScript checks the parameters of methods less strictly. With a function type, `defineCommand`
   * could not return a `CommandSpec`.
   */
  run(invocation: Invocation<O>, world: World): Promise<number>;
}

type RunnableSpec = CommandSpec & Required<Pick<CommandSpec, 'load'>>;

export type Action =
  | { readonly kind: 'run'; readonly spec: RunnableSpec; readonly invocation: Invocation }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' };

/** Begins with the summary as a sentence. */
export function describeCommand({ summary, description = [] }: CommandSpec): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...description];
}
