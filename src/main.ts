import { COMMANDS, commandLineOf } from './cli/catalogue.ts';
import { FilingsError } from './errors.ts';
import { helpColumns } from './help/layout.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { rememberEnvironment, rememberSettings } from './settings/known-secrets.ts';
import { unknownVariables } from './settings/layers.ts';
import type { Flags, ParsedLine } from './spec/command.ts';
import { guardStream, isBrokenPipe, write } from './stdio/output.ts';
import { systemWorld, type World } from './world.ts';

export interface Started {
  /** The exit status; never rejects. */
  readonly done: Promise<number>;
  /** Tells about an error that nobody caught; gives the exit status. */
  readonly crashed: (error: unknown) => Promise<number>;
}

/** Runs the program, whose folder is `root`, in the real world; the caller owns the process. */
export function start(root: string): Started {
  return begin(systemWorld(root));
}

/** What moves on a terminal is cleared, and its cursor is back; also what is drawn while the error is told. */
async function crashed(error: unknown, flags: Flags, world: World): Promise<number> {
  const clear = () => world.stderr.isTTY && world.stderr.write('\x1b[?25h\r\x1b[J');
  clear();
  const status = await reportError(error, flags, world);
  clear();
  return status;
}

/** The whole program: a command line and a world to an exit status. */
export function main(world: World): Promise<number> {
  return begin(world).done;
}

/** Reads the command line and runs it. All errors end here. */
function begin(world: World): Started {
  // A command line that is still being typed cannot be parsed.
  if (world.argv[0] === '__complete') {
    return { done: completeLine(world), crashed: (error) => crashed(error, {}, world) };
  }
  const { line, error: fault, flags } = commandLineOf(world.argv);
  const work = async () => {
    try {
      rememberEnvironment(world);
      if (line === undefined) throw fault;
      return await answer(line, flags, world);
    } catch (error) {
      // The reader of stdout has seen enough.
      return isBrokenPipe(error) ? 0 : reportError(error, flags, world);
    }
  };
  return { done: work(), crashed: (error) => crashed(error, flags, world) };
}

async function completeLine(world: World): Promise<number> {
  rememberEnvironment(world);
  const { complete } = await import('./commands/completion/complete.ts');
  return complete(world.argv.slice(1), COMMANDS, world);
}

async function answer(request: ParsedLine, flags: Flags, world: World): Promise<number> {
  switch (request.kind) {
    case 'version':
      await write(world.stdout, `filings ${world.version}\n`);
      return 0;
    case 'help':
      return showHelp(request, flags, world);
    case 'run': {
      rememberSettings(flags, world);
      const { run } = await request.load();
      guardStream(world.stdout);
      guardStream(world.stderr);
      for (const text of unknownVariables(world.env))
        await (await import('./session/presentation.ts')).tell('warning', text, flags, world);
      return withinDeadline(flags, world, (bounded) => run(request.invocation, bounded));
    }
  }
}

async function showHelp(
  { about, missing, text }: Extract<ParsedLine, { kind: 'help' }>,
  flags: Flags,
  world: World,
): Promise<number> {
  if (missing) {
    const { presentationOf } = await import('./session/presentation.ts');
    const { errorFormat } = await presentationOf(flags, world);
    const hint = `see ${about} --help`;
    if (errorFormat === 'json')
      throw new FilingsError('usage', 'a command is missing', { subject: { name: about }, hint });
  }
  const stream = missing ? world.stderr : world.stdout;
  await write(stream, text(helpColumns(stream, world.env)));
  return missing ? 2 : 0;
}
