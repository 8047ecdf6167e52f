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
import type { ListedFile, Parameter } from '../../service/listing.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/command.ts';
import type { World } from '../../world.ts';
import { createListOutput } from './output.ts';
import type { OPTIONS } from './spec.ts';

/** Lists the files. Returns 0, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { input, json, long, null: nul } = options;
  if (args.length === 0 && input === undefined) {
    throw new FilingsError('usage', 'no ACCESSION', {
      subject: { name: 'list' },
      hint: 'name a filing: filings list 0001234567-24-000001; or take them from a file: --input FILE',
    });
  }
  const accessions = args.map(parseAccession);
  const hasSeveralFilings = args.length > 1 || input !== undefined;
  const isChosen = nameFilter(options.include, options.exclude);
  const stdinUser = input === '-' ? '--input -' : undefined;
  const session = await openSession(flags, world, { stdinUser, writesStdout: true });
  try {
    const inputStream = input === undefined ? undefined : openInput(input, world, session.progress.note);
    const lines = linesOf(accessions, inputStream, session.progress.note);
    const results = listFilings(lines, options.query, session);
    const output = createListOutput({ hasSeveralFilings, isChosen, json, long, nul }, session, world);
    const count = inputStream ? undefined : accessions.length;
    await printAll(results, output, session, count, () => inputStream?.destroy());
    return 0;
  } finally {
    await session.close();
  }
}

interface FilingResult {
  readonly accession: string;
  readonly result: readonly ListedFile[] | FilingsError;
}

/**
 * Prints the results in order. Throws the error of the run at the end, because a failed filing does not stop the
 * others.
 * @param count the number of filings; undefined if they come from an input
 */
async function printAll(
  results: AsyncIterable<FilingResult>,
  output: ReturnType<typeof createListOutput>,
  { progress, signal }: Session,
  count: number | undefined,
  close: () => void,
): Promise<void> {
  const rule = new StopRule('filing');
  const unsubscribe = onAbort(signal, close);
  let [files, failed, permanent] = [0, 0, 0];
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const { accession, result } of results) {
      const error = result instanceof FilingsError ? result : await output.print(accession, result);
      signal.throwIfAborted();
      if (error && count === 1) throw error;
      files += 1;
      if (error) {
        failed += 1;
        if (!isTemporary(error)) permanent += 1;
      }
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
  } finally {
    unsubscribe();
    close();
  }
  const notStarted = count && count - files;
  const error = batchError({ files, failed, permanent, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

/** Yields the results of the lines in their order. */
async function* listFilings(
  lines: AsyncIterable<readonly Line[]>,
  query: readonly Parameter[],
  session: Session,
): AsyncGenerator<FilingResult> {
  const stop = childOf(session.signal);
  const ahead = new Ahead<FilingResult>({
    lines,
    jobs: session.settings.jobs,
    needsListing: (line): line is Entry => line.kind === 'entry',
    async list({ accession }) {
      const listed = listFiles(session, accession, query, stop.signal).then(({ files }) => files);
      const result = await listed.catch((error) => {
        if (error instanceof FilingsError) return error;
        throw error;
      });
      return [{ accession, result }];
    },
  });
  try {
    for await (const results of ahead.results())
      for (const each of results) {
        if ('result' in each) yield each;
        else if (each.kind === 'bad') yield { accession: '', result: each.error };
      }
  } finally {
    stop.abort(undefined);
    stop.detach();
  }
}

/** Yields the arguments, then the input. Consecutive lines of one filing are one line. */
async function* linesOf(
  accessions: readonly AccessionNumber[],
  input: Readable | undefined,
  note: (message: string) => void,
): AsyncGenerator<readonly Line[]> {
  yield accessions.map((accession) => ({ kind: 'entry', accession }));
  if (input === undefined) return;
  let last: string | undefined;
  for await (const batch of readLines(input, note)) {
    yield batch.filter((line) => {
      const previous = last;
      last = line.kind === 'entry' ? line.accession : undefined;
      return last === undefined || last !== previous;
    });
  }
}
