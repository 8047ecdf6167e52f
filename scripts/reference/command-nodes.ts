// All commands as one list, for the manual and for tests of every command.
import type { CommandSpec } from '../../src/spec/command.ts';

/** A command with its path in the tree of commands, such as `['token', 'sign']`. */
export interface CommandNode {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
}

/** Returns all commands with their paths, each before its own subcommands. */
export function commandNodes(commands: readonly CommandSpec[], path: readonly string[] = []): readonly CommandNode[] {
  return commands.flatMap((spec) => {
    const own = [...path, spec.name];
    return [{ path: own, spec }, ...commandNodes(spec.children ?? [], own)];
  });
}
