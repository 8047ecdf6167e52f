import { spawn } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../../disk/failure.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { write } from '../../stdio/output.ts';
import { interruptedBy, type World } from '../../world.ts';

/** What shows a page, the first that is there: a name with a slash is a file's to each of them. */
const READERS = ['man', 'mandoc'] as const;

/** How a reader ended, with what it wrote to a pipe. */
interface Shown {
  readonly status: number | null;
  readonly signal: string | null;
  readonly text: string;
}

/**
 * Shows a page of the manual as it is shipped: on a terminal in man's own pager, else as plain text.
 * A Ctrl-C is the pager's own matter: what counts is how it ends.
 * @param otherwise what is written where nothing can show a page
 * @throws FilingsError `local_io` when the page is not there; `interrupted` when a Ctrl-C ended the reader; the signal's reason
 */
export async function showPage(name: string, otherwise: string, world: World): Promise<void> {
  const place = world.own.placeOf(`man/${name}`);
  if (place !== undefined) return showFile(place, otherwise, world);
  await withCopy(name, world, (copy) => showFile(copy, otherwise, world));
}

/** Readers of pages want a file: an executable makes one, gone afterwards. */
async function withCopy(name: string, { own, env }: World, use: (path: string) => Promise<void>): Promise<void> {
  const place = env.TMPDIR || '/tmp';
  const directory = await mkdtemp(join(place, 'filings-man-')).catch((error) => {
    throw diskFailure(error, place, 'name another directory with TMPDIR');
  });
  try {
    const path = join(directory, name);
    await writeFile(path, own.read(`man/${name}`), { flag: 'wx' });
    await use(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function showFile(path: string, otherwise: string, world: World): Promise<void> {
  await access(path).catch((cause) => {
    throw new FilingsError('local_io', `${path}: cannot be read (${errnoOf(cause)})`, {
      hint: 'install filings anew; filings help tells the same',
      cause,
    });
  });
  for (const reader of READERS) {
    const shown = await shownBy(reader, path, world);
    if (shown?.status === 0 && world.stdout.isTTY) return;
    if (shown?.status === 0 && shown.text !== '') return write(world.stdout, plain(shown.text));
    world.interrupt.throwIfAborted();
    if (shown?.signal === 'SIGINT') throw interruptedBy('SIGINT');
  }
  await write(world.stdout, otherwise);
}

/** Some readers print a letter twice for bold, and over an underline for italics. */
function plain(text: string): string {
  return text.replace(/.[\b]/gu, '');
}

/** Undefined when there is no such program. */
function shownBy(reader: string, path: string, { env, stdout, lendTerminal }: World): Promise<Shown | undefined> {
  const giveBack = stdout.isTTY ? lendTerminal() : () => {};
  return new Promise<Shown | undefined>((resolve) => {
    const child = spawn(reader, [path], {
      env: { ...env },
      stdio: stdout.isTTY ? 'inherit' : ['ignore', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', () => resolve(undefined));
    child.on('close', (status, signal) => resolve({ status, signal, text: Buffer.concat(chunks).toString() }));
  }).finally(giveBack);
}
