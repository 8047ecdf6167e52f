import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from './catalogue.ts';
import { FilingsError } from './errors.ts';
import { parseCommandLine, type Request } from './program.ts';
import { SETTINGS } from './settings/options.ts';
import { guardStream, isBrokenPipe, write } from './terminal/output.ts';
import { systemWorld, type World } from './world.ts';

export interface Run {
  /** The exit status; never rejects. */
  readonly done: Promise<number>;
  /** Tells about an error that nobody caught; gives the exit status. */
  readonly crashed: (error: unknown) => Promise<number>;
}

/** Runs the program in the real world; the caller owns the process. */
export function start(root: string): Run {
  const world = systemWorld(root);
  return { done: main(world), crashed: (error) => report(error, world) };
}

/** The whole program: a command line and a world to an exit status. Here alone errors end. */
export async function main(world: World): Promise<number> {
  try {
    rememberSecrets(world);
    return await answer(parseCommandLine(world.argv, COMMANDS), world);
  } catch (error) {
    // The reader of stdout has seen enough.
    return isBrokenPipe(error) ? 0 : report(error, world);
  }
}

async function answer(request: Request, world: World): Promise<number> {
  switch (request.kind) {
    case 'version':
      await write(world.stdout, `filings ${versionIn(world.root)}\n`);
      return 0;
    case 'help':
      return showHelp(request, world);
    case 'run': {
      const { run } = await load(request.command);
      guardStream(world.stdout);
      guardStream(world.stderr);
      return run(request.invocation, world);
    }
  }
}

function load(command: Extract<Request, { kind: 'run' }>['command']) {
  if (command.load === undefined) throw new FilingsError('internal', `${command.name}: nothing to run`);
  return command.load();
}

async function showHelp({ path, missing }: Extract<Request, { kind: 'help' }>, world: World): Promise<number> {
  const { helpColumns, helpText } = await import('./reference/help-text.ts');
  const text = helpText(COMMANDS, path, helpColumns((missing ? world.stderr : world.stdout).columns));
  if (!missing) await write(world.stdout, text);
  else {
    const { errorFormat } = await presentation(world);
    if (errorFormat === 'json') {
      throw new FilingsError('usage', `${['filings', ...path].join(' ')}: a command is missing`, {
        hint: `see ${['filings', ...path].join(' ')} --help`,
      });
    }
    await write(world.stderr, text);
  }
  return missing ? 2 : 0;
}

/** Whatever goes wrong from here on, these are not in the text about it. */
function rememberSecrets({ env, secrets }: World): void {
  for (const { env: name, secret } of SETTINGS) {
    const value = secret && name && env[name]?.trim();
    if (value) secrets.add(value);
  }
}

function versionIn(root: string): string {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

async function presentation(world: World) {
  const { presentationOf, scanFlags } = await import('./settings/presentation.ts');
  return presentationOf(scanFlags(world.argv), world);
}

/** Tells about an error on stderr, as far as that can be written; gives its exit status. */
async function report(thrown: unknown, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  guardStream(world.stderr);
  try {
    await write(world.stderr, await rendered(error, world));
  } catch {
    // stderr was the last place to say it.
  }
  return error.exitStatus;
}

async function rendered(error: FilingsError, world: World): Promise<string> {
  const [{ renderError }, { usesColor }, { errorFormat, color, verbose }] = await Promise.all([
    import('./terminal/render-error.ts'),
    import('./terminal/colors.ts'),
    presentation(world),
  ]);
  return renderError(error, {
    format: errorFormat,
    color: usesColor(color, world.stderr, world.env.TERM),
    verbose,
    secrets: world.secrets,
  });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // What an interrupted call throws is not what went wrong.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${message}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause: thrown,
  });
}
