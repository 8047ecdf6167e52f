import type { World } from '../world.ts';

/** A parsed command line: raw values, nothing read or resolved yet. */
export interface Invocation {
  readonly args: readonly string[];
  /** The command's own options by their camel-cased names: a string, `true`, or an array when repeatable. */
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** The settings given as flags, by their keys. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
}

/** What a command's module exports: takes a parsed command line to an exit status, or throws a FilingsError. */
export interface CommandModule {
  readonly run: (invocation: Invocation, world: World) => Promise<number>;
}
