// Runs the program: takes a world, whose `argv` is the command line, and returns an exit status. Every error is caught
// and reported here.
import { COMMANDS } from './cli/catalogue.ts';
import { readCommandLine } from './cli/program.ts';
import { FilingsError } from './errors.ts';
import { homeDirectory } from './paths.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { registerEnvironmentSecrets, registerSecretSettings } from './settings/layers.ts';
import type { Flags, ParsedLine } from './spec/command.ts';
import { guardStream, isBrokenPipe, terminalColumns, write } from './stdio/output.ts';
import { systemWorld, type World } from './world.ts';

interface ProgramRun {
  /** The exit status. Never rejects. */
  readonly done: Promise<number>;
  /** Reports an uncaught exception or rejection. Returns the exit status. */
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
  // The parser would reject the arguments of `__complete`, because they are a command line that is still being typed.
  const [word, ...words] = world.argv;
  const isCompletion = word === '__complete';
  const { line, error, flags } = readCommandLine(isCompletion ? [] : world.argv, {
    columns: terminalColumns(world.stdout, world.env),
    home: homeDirectory(world.env, world.platform),
  });
  const work = async () => {
    try {
      registerEnvironmentSecrets(world);
      if (isCompletion)
        return await (await import('./commands/completion/complete.ts')).complete(words, COMMANDS, world);
      registerSecretSettings(flags, world);
      if (line === undefined) throw error;
      return await execute(line, flags, world);
    } catch (thrown) {
      // A reader such as `head` closes stdout when it has seen enough, so this is not a failure.
      return isBrokenPipe(thrown) ? 0 : reportError(thrown, flags, world);
    }
  };
  return { done: work(), reportCrash: (thrown) => reportError(thrown, flags, world) };
}

async function execute(request: ParsedLine, flags: Flags, world: World): Promise<number> {
  switch (request.kind) {
    case 'version':
      await write(world.stdout, `filings ${world.version}\n`);
      return 0;
    case 'help':
      return showHelp(request, flags, world);
    case 'run': {
      const { run } = await request.load();
      guardStream(world.stdout);
      guardStream(world.stderr);
      return withinDeadline(flags, world, (limited) => run(request.invocation, limited));
    }
  }
}

/** If a command is missing, prints the help to stderr, or throws `usage` with `--error-format json`. */
async function showHelp(
  { about, missing, text }: Extract<ParsedLine, { kind: 'help' }>,
  flags: Flags,
  world: World,
): Promise<number> {
  if (missing) {
    const { readPresentation } = await import('./session/presentation.ts');
    const isJson = (await readPresentation(flags, world)).errorFormat === 'json';
    if (isJson) throw new FilingsError('usage', `${about}: a command is missing`, { hint: `see ${about} --help` });
  }
  await write(missing ? world.stderr : world.stdout, text);
  return missing ? 2 : 0;
}
