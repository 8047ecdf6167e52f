// Runs `list`: takes accession numbers from the arguments or an input, requests a few listings at a time, and prints
// them in their order. A failed filing does not stop the others, unless its error would fail all of them.
import type { Readable } from 'node:stream';
import { childOf, onAbort } from '../../abort.ts';
import { Ahead } from '../../batch/ahead.ts';
import { batchError, isTemporary, StopRule } from '../../batch/verdict.ts';
import { FilingsError } from '../../errors.ts';
import { nameFilter } from '../../input/glob.ts';
import { type Entry, type Line, openInput, readLines } from '../../input/lines.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/command.ts';
import type { World } from '../../world.ts';
import { createListOutput } from './output.ts';
import type { OPTIONS } from './spec.ts';

/** Lists the files. Returns 0, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { input, query } = options;
  if (args.length === 0 && input === undefined) {
    throw new FilingsError('usage', 'no ACCESSION', {
      subject: { name: 'list' },
      hint: 'name a filing: filings list 0001234567-24-000001; or take them from a file: --input FILE',
    });
  }
  const accessions = args.map(parseAccession);
  const isChosen = nameFilter(options.include, options.exclude);
  const stdinUser = input === '-' ? '--input -' : undefined;
  const session = await openSession(flags, world, { stdinUser, writesStdout: true });
  const { progress, settings } = session;
  const stop = childOf(session.signal);
  try {
    const inputStream = input === undefined ? undefined : openInput(input, world, progress.note);
    onAbort(stop.signal, () => inputStream?.destroy());
    const count = inputStream ? undefined : accessions.length;
    const ahead = new Ahead<Listed>({
      lines: linesOf(accessions, inputStream, progress.warn),
      jobs: settings.jobs,
      needsListing: (line): line is Entry => line.kind === 'entry',
      list: async ({ accession }) => [await listOrFail(session, accession, query, stop.signal)],
    });
    await printAll(ahead.results(), createListOutput(count === 1, isChosen, options, session, world), session, count);
    return 0;
  } finally {
    stop.abort(undefined);
    stop.detach();
    await session.close();
  }
}

/** The files of a filing, or why there are none. */
type Listed = { readonly accession: string; readonly files: readonly ListedFile[] } | { readonly error: FilingsError };

async function listOrFail(...request: Parameters<typeof listFiles>): Promise<Listed> {
  try {
    return { accession: request[1], files: (await listFiles(...request)).files };
  } catch (error) {
    if (error instanceof FilingsError) return { error };
    throw error;
  }
}

/**
 * Prints the results in order. Throws the error of the run at the end, because a failed filing does not stop the
 * others.
 * @param count the number of filings; undefined if they come from an input
 */
async function printAll(
  groups: AsyncIterable<readonly (Listed | Line)[]>,
  output: ReturnType<typeof createListOutput>,
  { progress, signal }: Session,
  count: number | undefined,
): Promise<void> {
  const rule = new StopRule('filing');
  let [files, failed, permanent] = [0, 0, 0];
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const each of flat(groups)) {
      if ('kind' in each && each.kind === 'entry') continue;
      const error = 'error' in each ? each.error : await output.print(each.accession, each.files);
      signal.throwIfAborted();
      if (error && count === 1) throw error;
      files += 1;
      if (error) failed += 1;
      if (error && !isTemporary(error)) permanent += 1;
      stoppedBy = rule.check(error);
      // An error that stops the run is printed at its end.
      if (error && error !== stoppedBy) progress.failure(error);
      if (stoppedBy) break;
    }
    await output.end();
  } catch (error) {
    // On abort the input is closed, which fails the read of the next line.
    if (!signal.aborted) throw error;
    stoppedBy = signal.reason;
  }
  const notStarted = count && count - files;
  const error = batchError({ files, failed, permanent, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

async function* flat<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const group of groups) yield* group;
}

/** Yields the arguments, then the input. Consecutive lines of one filing are one line. */
async function* linesOf(
  accessions: readonly AccessionNumber[],
  input: Readable | undefined,
  warn: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  yield accessions.map((accession) => ({ kind: 'entry', accession }));
  if (input === undefined) return;
  let last: string | undefined;
  for await (const batch of readLines(input, warn)) {
    yield batch.filter((line) => {
      const previous = last;
      last = line.kind === 'entry' ? line.accession : undefined;
      return last === undefined || last !== previous;
    });
  }
}
