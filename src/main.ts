import { COMMANDS, parsed } from './cli/catalogue.ts';
import { FilingsError } from './errors.ts';
import { helpColumns } from './help/layout.ts';
import { withinDeadline } from './session/deadline.ts';
import { reportError } from './session/report-error.ts';
import { rememberEnvironment, rememberSettings } from './settings/known-secrets.ts';
import { unknownVariables } from './settings/layers.ts';
import type { ParsedLine } from './spec/command.ts';
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
  const world = systemWorld(root);
  return { done: main(world), crashed: (error) => crashed(error, world) };
}

/** What moves on a terminal is cleared, and its cursor is back; also what is drawn while the error is told. */
async function crashed(error: unknown, world: World): Promise<number> {
  const clear = () => world.stderr.isTTY && world.stderr.write('\x1b[?25h\r\x1b[J');
  clear();
  const status = await reportError(error, world);
  clear();
  return status;
}

/** The whole program: a command line and a world to an exit status. Here alone errors end. */
export async function main(world: World): Promise<number> {
  try {
    rememberEnvironment(world);
    // A line that is still being typed is no command line: it is not parsed as one.
    if (world.argv[0] === '__complete') {
      const { complete } = await import('./commands/completion/complete.ts');
      return await complete(world.argv.slice(1), COMMANDS, world);
    }
    return await answer(parsed(world.argv), world);
  } catch (error) {
    // The reader of stdout has seen enough.
    return isBrokenPipe(error) ? 0 : reportError(error, world);
  }
}

async function answer(request: ParsedLine, world: World): Promise<number> {
  switch (request.kind) {
    case 'version':
      await write(world.stdout, `filings ${world.version}\n`);
      return 0;
    case 'help':
      return showHelp(request, world);
    case 'run': {
      rememberSettings(request.invocation.flags, world);
      const { run } = await request.load();
      guardStream(world.stdout);
      guardStream(world.stderr);
      for (const text of unknownVariables(world.env))
        await (await import('./session/presentation.ts')).tell('warning', text, world);
      return withinDeadline(request.invocation.flags, world, (bounded) => run(request.invocation, bounded));
    }
  }
}

async function showHelp(
  { about, missing, text }: Extract<ParsedLine, { kind: 'help' }>,
  world: World,
): Promise<number> {
  if (missing) {
    const { presentationOf } = await import('./session/presentation.ts');
    const { errorFormat } = await presentationOf(world);
    const hint = `see ${about} --help`;
    if (errorFormat === 'json')
      throw new FilingsError('usage', 'a command is missing', { subject: { name: about }, hint });
  }
  const stream = missing ? world.stderr : world.stdout;
  await write(stream, text(helpColumns(stream, world.env)));
  return missing ? 2 : 0;
}
