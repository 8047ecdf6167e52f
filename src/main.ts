// The whole program: from a world with a command line to an exit status. All errors end here.
import { COMMANDS } from './cli/catalogue.ts';
import { readCommandLine } from './cli/program.ts';
import { FilingsError } from './errors.ts';
import { homeIn } from './paths.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { registerEnvironmentSecrets, registerSecretSettings } from './settings/layers.ts';
import type { Flags, ParsedLine } from './spec/command.ts';
import { columnsOf, guardStream, isBrokenPipe, write } from './stdio/output.ts';
import { systemWorld, type World } from './world.ts';

/** A run of the program. */
interface ProgramRun {
  /** The exit status. Never rejects. */
  readonly done: Promise<number>;
  /** Reports an error that no code caught. Returns the exit status. */
  readonly reportCrash: (error: unknown) => Promise<number>;
}

/** Runs the program, whose folder is `root`, in the real world. Does not end the process: `bin` does that. */
export function start(root: string): ProgramRun {
  return runIn(systemWorld(root));
}

/** Runs the program in a world. Returns the exit status. Never rejects. */
export function main(world: World): Promise<number> {
  return runIn(world).done;
}

function runIn(world: World): ProgramRun {
  // The arguments of `__complete` are an incomplete command line, which the parser would reject.
  const [word, ...words] = world.argv;
  const isCompletion = word === '__complete';
  const { line, error, flags } = readCommandLine(isCompletion ? [] : world.argv, {
    columns: columnsOf(world.stdout, world.env),
    home: homeIn(world.env, world.platform),
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
      // A reader of stdout that closes the pipe early needs no more output.
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

/** Prints the help. If a command is missing, prints it to stderr, or throws `usage` for `--error-format json`. */
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
