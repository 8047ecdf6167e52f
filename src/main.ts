// Runs the program in a `World`, and returns an exit status. Every error is caught and reported here.
import { readCommandLine } from './cli/program.ts';
import { FilingsError } from './errors.ts';
import { homeDirectory } from './paths.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { registerEnvironmentSecrets, registerSecretSettings } from './settings/layers.ts';
import type { Action } from './spec/command.ts';
import { guardStream, isClosedStdout, terminalColumns, write } from './stdio/output.ts';
import type { World } from './world.ts';

export { systemWorld } from './world.ts';

export async function main(world: World): Promise<number> {
  // This comes first, so that every error that is printed later is redacted.
  registerEnvironmentSecrets(world);
  const [firstWord, ...words] = world.argv;
  // Completion scripts call `filings __complete` with an unfinished command line, which the parser would reject.
  if (firstWord === '__complete') return (await import('./cli/complete.ts')).complete(words, world);
  const { flags, hint, readAction } = parseCommandLine(world);
  let action: Action | undefined;
  try {
    registerSecretSettings(flags, world);
    action = readAction();
    return await execute(action, world);
  } catch (thrown) {
    // A reader such as `head` closes stdout when it has seen enough.
    const needsReader = action?.kind === 'run' && action.spec.needsReader;
    if (isClosedStdout(thrown) && !needsReader) return 0;
    const needsHint = thrown instanceof FilingsError && thrown.code === 'usage' && thrown.hint === undefined;
    return reportError(needsHint ? thrown.with({ hint }) : thrown, flags, world);
  }
}

/** Reports an uncaught exception or an unhandled rejection, which `bin` catches. Returns the exit status. */
export function reportCrash(error: unknown, world: World): Promise<number> {
  return reportError(error, parseCommandLine(world).flags, world);
}

function parseCommandLine({ argv, env, platform, stdout }: World) {
  return readCommandLine(argv, { columns: terminalColumns(stdout, env), home: homeDirectory(env, platform) });
}

async function execute(action: Action, world: World): Promise<number> {
  if (action.kind === 'version') await write(world.stdout, `filings ${world.version}\n`);
  if (action.kind === 'help') await write(world.stdout, action.text);
  if (action.kind !== 'run') return 0;
  const { run } = await action.spec.load();
  // `write` adds a listener for errors itself, but commands also call `world.stderr.write` directly.
  guardStream(world.stdout);
  guardStream(world.stderr);
  return withinDeadline(action.invocation.flags, world, (limited) => run(action.invocation, limited));
}
