import { PassThrough, Writable } from 'node:stream';
import { childOf, orAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { parseAccession } from '../../service/accession.ts';
import { openSession } from '../../session/session.ts';
import { locateConfig } from '../../settings/file/location.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Flags } from '../../spec/invocation.ts';
import type { World } from '../../world.ts';
import type { Answer } from './answers.ts';
import { stampOf } from './asker.ts';
import { isShowable, withinBounds } from './offered-names.ts';

/** With Node's start before it and its end behind it, within two seconds. Milliseconds. */
const PATIENCE_MS = 1400;

/**
 * The names of a filing's files, by one request with the settings of a line; undefined where somebody would be asked for a
 * key: a program, a person, stdin. Never says a word.
 * @throws whatever keeps them from coming
 */
export async function askForNames(
  accession: string,
  flags: Flags,
  world: World,
): Promise<Omit<Answer, 'asker'> | undefined> {
  const patience = childOf(world.interrupt);
  const timer = setTimeout(() => patience.abort(new FilingsError('temporary', 'names: not in time')), PATIENCE_MS);
  try {
    return await orAbort(ask(accession, flags, silent(world, patience.signal)), patience.signal);
  } finally {
    clearTimeout(timer);
    patience.letGo();
    // A name that is being looked up holds a thread, and that the process: nothing is lost with it.
    if (patience.signal.aborted) endAtOnce(world);
  }
}

/** The world without anybody to ask or to tell. */
function silent(world: World, interrupt: AbortSignal): World {
  const stdin = new PassThrough();
  stdin.end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  return Object.create(world, { stdin: { value: stdin }, stderr: { value: stderr }, interrupt: { value: interrupt } });
}

async function ask(accession: string, given: Flags, world: World) {
  const { verbose: _, deadline: __, ...flags }: Flags = { ...given, quiet: true, retries: '0', progress: 'none' };
  const config = locateConfig(flags, world).location.path;
  const before = stamped(config === undefined ? [] : [config]);
  if (before === undefined) return undefined;
  const { settings } = await resolveSettings(flags, world);
  const secrets = settings.completeNames ? secretFiles(settings) : undefined;
  const stamps = secrets && stamped(secrets);
  if (stamps === undefined) return undefined;
  const session = await openSession(flags, world);
  try {
    const files = await session.client.listFiles(parseAccession(accession), [], session.signal);
    return { stamps: [...before, ...stamps], names: bounded(files.map(({ file_name }) => file_name)) };
  } finally {
    await session.close();
  }
}

/** The files that hold key and token; undefined where one comes from a program or from stdin. */
function secretFiles({ key, token }: Settings): readonly string[] | undefined {
  if (key?.kind === 'command') return undefined;
  const paths = [key, token].flatMap((one) => {
    if (one?.kind === 'file') return [one.path];
    return one?.kind === 'recipe' ? [one.recipe.keyFile ?? one.recipe.secretFile ?? '-'] : [];
  });
  return paths.includes('-') ? undefined : paths;
}

/** Undefined where one is no plain file. */
function stamped(paths: readonly string[]): Answer['stamps'] | undefined {
  const stamps = paths.map((path) => [path, stampOf(path)] as const);
  return stamps.some(([, stamp]) => stamp === undefined) ? undefined : (stamps as Answer['stamps']);
}

/** Each once, those that a terminal can show, and no more than fit. */
function bounded(names: readonly string[]): readonly string[] {
  return withinBounds([...new Set(names)].filter(isShowable));
}

function endAtOnce({ kill, pid }: World): void {
  try {
    kill(pid, 'SIGKILL');
  } catch {
    // It ends a moment later.
  }
}
