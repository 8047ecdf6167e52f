// Commands as data. The parser, the help, the manual and the completions are made from it.
import type { World } from '../world.ts';
import type { Completes } from './kind.ts';
import type { Options, Values } from './option.ts';

export interface CommandSpec<O extends Options = Options> {
  readonly name: string;
  /** One line, for lists of commands. */
  readonly summary: string;
  /** The parts after the options in its usage, if there are several forms. */
  readonly forms?: readonly string[];
  /** More paragraphs. */
  readonly description?: readonly string[];
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: O;
  /** Commands that work as written, each with a description. */
  readonly examples?: readonly (readonly [command: string, effect: string])[];
  /** Set if the command sends requests, so that its examples can be tried with FILINGS_SANDBOX=1. */
  readonly asksService?: true;
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
  /** Values that the completions offer. Others are accepted, too. */
  readonly suggests?: readonly string[];
  readonly completes?: Completes;
}

/** Returns a spec whose `run` is typed by its options, so that a wrong name or type does not compile. */
export function command<O extends Options>(spec: CommandSpec<O>): CommandSpec {
  return spec;
}

/** The settings that flags set, by their keys. The values are raw, because other sources may set the same setting. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A parsed command line. The command's own options are read; settings are not resolved yet. */
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
      readonly about: string;
      readonly missing: boolean;
      readonly text: string;
    }
  | { readonly kind: 'version' };

/** Returns the paragraphs about a command. */
export function descriptionOf({ summary, description = [] }: CommandSpec): readonly string[] {
  return [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...description];
}
