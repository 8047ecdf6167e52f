import type { World } from '../world.ts';
import type { Options, Values } from './option.ts';

/** The settings given as flags, by their keys: raw, since other sources may say the same. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A parsed command line. The command's own options are read; of the settings nothing is resolved yet. */
export interface Invocation<O extends Options = Options> {
  readonly args: readonly string[];
  readonly options: Values<O>;
  readonly flags: Flags;
}

/** What a command's module exports: takes a parsed command line to an exit status, or throws a FilingsError. */
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
      /** No command was named where one is needed. */
      readonly missing: boolean;
      readonly text: (columns: number) => string;
    }
  | { readonly kind: 'version' };

/** Reads a command line. Throws `usage`. */
export type ParseLine = (argv: readonly string[]) => ParsedLine;
