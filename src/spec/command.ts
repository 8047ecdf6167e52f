// Describes commands as data. The parser, the help, the manual and the completions are made from these descriptions, so
// that they never differ.
import type { World } from '../world.ts';
import type { CompletionKind } from './kind.ts';
import type { Options, Values } from './option.ts';

export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** One line without a capital and a period, for lists of commands. */
  readonly summary: string;
  /** The usage after `[options]`, if there are several forms of it. */
  readonly forms?: readonly string[];
  /** Paragraphs that follow the summary. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** Commands that work as written, each with a description. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  /** Set if the command sends requests. The help then says that FILINGS_SANDBOX=1 makes its examples work. */
  readonly asksService?: true;
  readonly children?: readonly CommandSpec[];
  /** The child that runs if the command line names none. */
  readonly defaultChild?: string;
  /** Imports the code of the command, which is loaded only when it runs. */
  load?(): Promise<CommandModule<O>>;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  /** Values that the completions offer, although others are valid as well. */
  readonly suggests?: readonly string[];
  readonly completes?: CompletionKind;
}

/** Checks at compile time that `run` accepts the options that the spec declares. Returns the spec unchanged. */
export function command<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/** The unparsed values of settings that flags set, by their keys. Other sources may set the same settings. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** What the command line says to a command. Its own options are parsed. The settings are not resolved yet. */
export interface Invocation<O extends Options = Options> {
  readonly args: readonly string[];
  readonly options: Values<O>;
  readonly flags: Flags;
}

interface CommandModule<O extends Options = Options> {
  run(invocation: Invocation<O>, world: World): Promise<number>;
}

export type ParsedLine =
  | {
      readonly kind: 'run';
      /** The command's own name, such as `sign`. */
      readonly name: string;
      readonly load: () => Promise<CommandModule>;
      readonly invocation: Invocation;
    }
  | {
      readonly kind: 'help';
      /** The full name of the command. */
      readonly about: string;
      /** Whether the help is shown because the line names no command, which is an error. */
      readonly missing: boolean;
      readonly text: string;
    }
  | { readonly kind: 'version' };

/** Returns the paragraphs of the description, beginning with the summary as a sentence. */
export function describeCommand({ summary, description = [] }: CommandSpec): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...description];
}
