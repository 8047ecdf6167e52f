import { COMMANDS } from './cli/catalogue.ts';
import { plainRequest, type Request } from './cli/request.ts';
import { errnoOf, FilingsError } from './errors.ts';
import { filesIn, filesWithin, type OwnFiles } from './own-files.ts';
import { type NamedSetting, SETTINGS } from './settings/table.ts';
import { isBrokenPipe, write } from './stdio/output.ts';
import { guardStream } from './stdio/raw-write.ts';
import { type OutputStream, systemWorld, type World } from './world.ts';

/** 128 and SIGPIPE. */
const READER_WENT_AWAY = 141;
const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

export interface Run {
  /** The exit status; never rejects. */
  readonly done: Promise<number>;
  /** Tells about an error that nobody caught; gives the exit status. */
  readonly crashed: (error: unknown) => Promise<number>;
}

/**
 * Runs the program in the real world, with the files in the project's folder; the caller owns the process, and may know
 * a stderr that is not `process`'s.
 */
export function start(root: string, stderr?: OutputStream): Run {
  return startWith(filesIn(root), stderr);
}

/** The same with an executable's assets. */
export function startWithin(asset: (key: string) => ArrayBuffer, stderr?: OutputStream): Run {
  return startWith(filesWithin(asset), stderr);
}

function startWith(own: OwnFiles, stderr?: OutputStream): Run {
  const world = systemWorld(own, stderr);
  return { done: main(world), crashed: (error) => report(error, world) };
}

/** After the deadline or a signal, a reader of stderr has so long to take what was still to be told. */
const LAST_WORDS_MS = 1000;

/** The whole program: a command line and a world to an exit status. Here alone errors end. */
export async function main(world: World): Promise<number> {
  try {
    rememberSecrets(world, world.env, ({ env }) => env);
    for (const name of PROXIES) rememberProxy(world, world.env[name] ?? '');
    return await answer(plainRequest(world.argv, COMMANDS) ?? (await parsed(world)), world);
  } catch (error) {
    // The reader of stdout has seen enough.
    return isBrokenPipe(error) ? 0 : report(error, world);
  }
}

async function parsed({ argv }: World): Promise<Request> {
  const { parseCommandLine } = await import('./cli/program.ts');
  return parseCommandLine(argv, COMMANDS);
}

async function answer(request: Request, world: World): Promise<number> {
  switch (request.kind) {
    case 'version':
      await write(world.stdout, `filings ${world.version}\n`);
      return 0;
    case 'help':
      return showHelp(request, world);
    case 'run': {
      rememberSecrets(world, request.invocation.flags, ({ key }) => key);
      const { run } = await load(request.command);
      guardStream(world.stdout);
      guardStream(world.stderr);
      const { flags } = request.invocation;
      if (flags.deadline === undefined && !world.env.FILINGS_DEADLINE) return run(request.invocation, world);
      const { withinDeadline } = await import('./session/bounded.ts');
      return withinDeadline(flags, world, (bounded) => run(request.invocation, bounded));
    }
  }
}

function load(command: Extract<Request, { kind: 'run' }>['command']) {
  if (command.load === undefined) throw new FilingsError('internal', `${command.name}: nothing to run`);
  return command.load();
}

async function showHelp(request: Extract<Request, { kind: 'help' }>, world: World): Promise<number> {
  const { path, missing } = request;
  const { helpColumns, helpText } = await import('./reference/help/text.ts');
  const stream = missing ? world.stderr : world.stdout;
  const text = helpText(COMMANDS, request, helpColumns(stream, world.env));
  if (missing && (await presentation(world)).errorFormat === 'json') {
    const command = ['filings', ...path].join(' ');
    throw new FilingsError('usage', `${command}: a command is missing`, { hint: `see ${command} --help` });
  }
  await write(stream, text);
  return missing ? 2 : 0;
}

/** Whatever goes wrong from here on, these are not in the text about it. */
function rememberSecrets(
  { secrets }: World,
  values: Readonly<Record<string, unknown>>,
  nameOf: (spec: NamedSetting) => string | undefined,
): void {
  for (const spec of SETTINGS.filter(({ secret }) => secret)) {
    const value = values[nameOf(spec) ?? ''];
    if (typeof value === 'string') secrets.add(value.trim());
  }
}

/** User and password of a proxy's URL, as written and as sent. */
function rememberProxy({ secrets }: World, url: string): void {
  const [, pair] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]+)@/i.exec(url) ?? [];
  if (pair === undefined) return;
  for (const text of [pair, decoded(pair)]) {
    secrets.add(text);
    secrets.add(text.slice(text.indexOf(':') + 1));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function presentation(world: World) {
  const { presentationOf, scanFlags } = await import('./session/presentation.ts');
  return presentationOf(scanFlags(world.argv), world);
}

/** Tells about an error on stderr, as far as that can be written; gives its exit status. */
async function report(thrown: unknown, world: World): Promise<number> {
  const error = asFilingsError(thrown, world.interrupt);
  // Whoever closes a pipe early has seen enough, and is told nothing.
  if (error.exitStatus === READER_WENT_AWAY) return error.exitStatus;
  guardStream(world.stderr);
  try {
    const patience = error.isTimeUp ? AbortSignal.timeout(LAST_WORDS_MS) : undefined;
    await write(world.stderr, await rendered(error, world).catch(unloaded), patience);
  } catch {
    // stderr was the last place to say it.
  }
  return error.exitStatus;
}

/** What tells an error is loaded only then, and may be what can't be. Throws anything else: it may hold a secret. */
function unloaded(failure: unknown): string {
  if (!isTooManyOpen(failure)) throw failure;
  const { message, hint } = tooManyOpen(failure);
  return `filings: ${message}\n  hint: ${hint}\n`;
}

async function rendered(error: FilingsError, world: World): Promise<string> {
  const [{ renderError }, { usesColor }, { errorFormat, color, verbose }] = await Promise.all([
    import('./terminal/render-error.ts'),
    import('./terminal/colors.ts'),
    presentation(world),
  ]);
  if (verbose && error.code === 'internal') {
    const { mappedStack } = await import('./terminal/mapped-stack.ts');
    const defect = error.cause instanceof Error ? error.cause : error;
    defect.stack = mappedStack(defect.stack ?? '', world.own);
  }
  return renderError(error, {
    format: errorFormat,
    color: usesColor(color, world.stderr, world.env.TERM),
    verbose,
    secrets: world.secrets,
  });
}

function isTooManyOpen(thrown: unknown): boolean {
  return errnoOf(thrown) === 'EMFILE' || errnoOf(thrown) === 'ENFILE';
}

/** At this moment it can't even read its own code. */
function tooManyOpen(cause: unknown): FilingsError {
  const hint = 'raise the limit (ulimit -n), or lower --jobs';
  return new FilingsError('local_io', 'too many open files: the program could not load all of itself', { hint, cause });
}

function asFilingsError(thrown: unknown, interrupt: AbortSignal): FilingsError {
  if (thrown instanceof FilingsError) return thrown;
  // What an interrupted call throws is not what went wrong.
  if (interrupt.aborted && interrupt.reason instanceof FilingsError) return interrupt.reason;
  if (isTooManyOpen(thrown)) return tooManyOpen(thrown);
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return new FilingsError('internal', `a defect in the program: ${message}`, {
    hint: 'please report it; --verbose shows where it happened',
    cause: thrown,
  });
}
