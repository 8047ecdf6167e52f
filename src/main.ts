// Runs the program in a `World`, and returns an exit status. Every error is caught and reported here.
import { COMMANDS } from './cli/catalogue.ts';
import { readCommandLine } from './cli/program.ts';
import { FilingsError } from './errors.ts';
import { homeDirectory } from './paths.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { registerEnvironmentSecrets, registerSecretSettings } from './settings/layers.ts';
import type { Action, Flags } from './spec/command.ts';
import { guardStream, isBrokenPipe, terminalColumns, write } from './stdio/output.ts';
import { systemWorld, type World } from './world.ts';

interface ProgramRun {
  /** The exit status. Never rejects. */
  readonly done: Promise<number>;
  /** Reports an uncaught exception or an unhandled rejection, which `bin` catches. Returns the exit status. */
  readonly reportCrash: (error: unknown) => Promise<number>;
}

/** Runs the program of the package in the folder `root`. Does not end the process: `bin` does that. */
export function start(root: string): ProgramRun {
  return runIn(systemWorld(root));
}

/** For tests, which run the program in a world of their own. Returns the exit status. Never rejects. */
export function main(world: World): Promise<number> {
  return runIn(world).done;
}

function runIn(world: World): ProgramRun {
  // Completion scripts call `filings __complete` with an unfinished command line, which the parser would reject.
  const [firstWord, ...words] = world.argv;
  const isCompletion = firstWord === '__complete';
  const { action, error, flags, path } = readCommandLine(isCompletion ? [] : world.argv, {
    columns: terminalColumns(world.stdout, world.env),
    home: homeDirectory(world.env, world.platform),
  });
  const work = async () => {
    try {
      // This comes first, so that every error that is printed later is redacted.
      registerEnvironmentSecrets(world);
      if (isCompletion)
        return await (await import('./commands/completion/complete.ts')).complete(words, COMMANDS, world);
      registerSecretSettings(flags, world);
      if (action === undefined) throw error;
      return await execute(action, flags, world);
    } catch (thrown) {
      // A reader such as `head` closes stdout when it has seen enough, so this is not a failure. For `download -o -` it
      // is one (status 141), and for `verify`: they write through byte-writer.ts, which throws `interrupted` instead.
      if (isBrokenPipe(thrown)) return 0;
      const needsHint = thrown instanceof FilingsError && thrown.code === 'usage' && thrown.hint === undefined;
      return reportError(needsHint ? thrown.with({ hint: `see ${path} --help` }) : thrown, flags, world);
    }
  };
  return { done: work(), reportCrash: (thrown) => reportError(thrown, flags, world) };
}

async function execute(action: Action, flags: Flags, world: World): Promise<number> {
  switch (action.kind) {
    case 'version':
      await write(world.stdout, `filings ${world.version}\n`);
      return 0;
    case 'help':
      return showHelp(action, flags, world);
    case 'run': {
      const { run } = await action.load();
      // `write` adds a listener for errors itself, but commands also call `world.stderr.write` directly.
      guardStream(world.stdout);
      guardStream(world.stderr);
      return withinDeadline(flags, world, (limited) => run(action.invocation, limited));
    }
  }
}

/** If the line lacks a command (`filings token`), the help is an error: on stderr, or thrown as `usage` for JSON. */
async function showHelp(
  { command, isCommandMissing, text }: Extract<Action, { kind: 'help' }>,
  flags: Flags,
  world: World,
): Promise<number> {
  if (isCommandMissing) {
    const { readPresentation } = await import('./session/presentation.ts');
    const isJson = (await readPresentation(flags, world)).errorFormat === 'json';
    if (isJson) throw new FilingsError('usage', `${command}: a command is missing`, { hint: `see ${command} --help` });
  }
  await write(isCommandMissing ? world.stderr : world.stdout, text);
  return isCommandMissing ? 2 : 0;
}
