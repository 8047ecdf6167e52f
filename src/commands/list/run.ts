// Runs `list`: takes accession numbers from the arguments or an input, requests a few listings at a time, and prints
// them in their order. A failed filing does not stop the others, unless its error would fail all of them.
import type { Readable } from 'node:stream';
import { childOf, onAbort } from '../../abort.ts';
import { batchError, type FailureKind, failureKind, StopRule } from '../../batch/verdict.ts';
import { FilingsError } from '../../errors.ts';
import { nameFilter } from '../../input/glob.ts';
import { type Line, openInput, readLines } from '../../input/lines.ts';
import { type AccessionNumber, parseAccession, parseReference } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing.ts';
import type { Parameter } from '../../service/listing-pages.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import { rewriteCommand } from '../../settings/hint-command.ts';
import type { Invocation } from '../../spec/command.ts';
import { shortened } from '../../text.ts';
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
  const accessions = args.map((text) => accessionOf(text, world.argv));
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

/**
 * Returns the accession number of an argument. Throws `usage`; for a pasted URL its hint is the command with the
 * number.
 */
function accessionOf(text: string, argv: readonly string[]): AccessionNumber {
  const reference = parseReference(text);
  if (reference === undefined) return parseAccession(text);
  throw new FilingsError('usage', `'${shortened(text, 60)}' is not an accession number`, {
    hint: `did you mean: ${rewriteCommand(argv, new Map([[text, [reference.accession]]]))}`,
  });
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
  { client, progress, signal }: Session,
  count: number | undefined,
  close: () => void,
): Promise<void> {
  const rule = new StopRule('filing', client.options.hintCommand);
  const unsubscribe = onAbort(signal, close);
  let [files, failed] = [0, 0];
  const failures = new Set<FailureKind>();
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const { accession, result } of results) {
      const error = result instanceof FilingsError ? result : await output.print(accession, result);
      signal.throwIfAborted();
      if (error && count === 1) throw error;
      files += 1;
      if (error) {
        failed += 1;
        failures.add(failureKind(error));
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
  const error = batchError({ files, failed, failures, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

/** Requests up to `--jobs` listings at a time. Yields their results in the order of the lines. */
async function* listFilings(
  lines: AsyncIterable<readonly Line[]>,
  query: readonly Parameter[],
  session: Session,
): AsyncGenerator<FilingResult> {
  const stop = childOf(session.signal);
  const list = async (line: Line): Promise<FilingResult> => {
    if (line.kind === 'bad') return { accession: '', result: line.error };
    const { accession } = line;
    const listing = await listFiles(session, accession, query, stop.signal).catch((error) => {
      if (error instanceof FilingsError) return error;
      throw error;
    });
    return { accession, result: listing instanceof FilingsError ? listing : listing.files };
  };
  const pending: Promise<FilingResult>[] = [];
  try {
    for await (const batch of lines) {
      for (const line of batch) {
        const result = list(line);
        // An error is thrown where the result is awaited. Until then it must not count as unhandled.
        result.catch(() => {});
        pending.push(result);
        if (pending.length === session.settings.jobs) yield (await pending.shift()) as FilingResult;
      }
      while (pending.length > 0) yield (await pending.shift()) as FilingResult;
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
