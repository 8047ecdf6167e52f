// Requests up to `--jobs` listings at a time, and prints them in the order of the arguments or of the input. A filing
// that fails does not stop the others, unless `createStopRule` concludes that they would all fail in the same way.
import { createChildController, onAbort } from '../../abort.ts';
import { ReadAhead } from '../../batch/read-ahead.ts';
import { batchError, createStopRule, isTemporary } from '../../batch/verdict.ts';
import { FilingsError, messageOf } from '../../errors.ts';
import { compileNameFilter, QUOTE_PATTERN_HINT } from '../../input/glob.ts';
import { type Line, openLines } from '../../input/lines.ts';
import { type AccessionNumber, asAccession, parseAccession } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing.ts';
import { listFiles, openSession } from '../../session/session.ts';
import type { Invocation } from '../../spec/command.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { createListOutput } from './output.ts';
import type { OPTIONS } from './spec.ts';

export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { input, query } = options;
  const accessions = parseArguments(args, options);
  const isChosen = compileNameFilter(options.include, options.exclude);
  const session = await openSession(flags, world, { input, writesTerminal: world.stdout.isTTY });
  const { progress, settings } = session;
  // Ends the requests that `ReadAhead` has already started for later filings, and the input.
  const stop = createChildController(world.interrupt);
  try {
    const entries = accessions.map((accession) => ({ kind: 'entry', accession }) as const);
    const { lines, closeInput } = openLines(entries, input, world, progress);
    onAbort(stop.signal, closeInput);
    // The number is unknown with an input, which is read while listings are printed.
    const filingCount = input === undefined ? accessions.length : undefined;
    const ahead = new ReadAhead<ListingResult>({
      lines: dropRepeated(lines),
      jobs: settings.jobs,
      accessionToList: (line) => (line.kind === 'entry' ? line.accession : undefined),
      list: async (accession) => {
        try {
          return [{ accession, files: (await listFiles(session, accession, query, stop.signal)).files }];
        } catch (error) {
          // A result, so that the other filings are still listed.
          if (error instanceof FilingsError) return [{ error }];
          throw error;
        }
      },
    });
    const output = createListOutput(filingCount === 1, isChosen, options, session, world);
    await printAll(ahead.results(), output, progress, filingCount, world.interrupt);
    return 0;
  } finally {
    // This is done even after a success, because an open stdin would keep the program running.
    stop.abort(undefined);
    stop.detach();
    await session.close();
  }
}

function parseArguments(
  args: readonly string[],
  { input, include }: Invocation<typeof OPTIONS>['options'],
): readonly AccessionNumber[] {
  const argumentError = (reason: string, hint: string) =>
    new FilingsError('usage', reason, { subject: { name: 'list' }, hint });
  if (args.length === 0 && input === undefined)
    throw argumentError(
      'no ACCESSION',
      'pass an accession number: filings list 0001234567-24-000001; or read them from a file: --input FILE',
    );
  // An unquoted `--include ex*` is expanded by the shell to `--include ex1 ex2 ex3`: all but the first become
  // arguments.
  const [first = '', ...further] = args;
  if (include.length > 0 && asAccession(first) && !further.every(asAccession))
    throw argumentError('only accession numbers can be arguments', QUOTE_PATTERN_HINT);
  return args.map((text, index) => parseAccession(text, args.slice(index + 1)));
}

type ListingResult =
  | { readonly accession: string; readonly files: readonly ListedFile[] }
  | { readonly error: FilingsError };

/** Throws a summary of the failures, or the error of the only filing. `filingCount` is undefined with `--input`. */
async function printAll(
  groups: AsyncIterable<readonly (ListingResult | Line)[]>,
  output: ReturnType<typeof createListOutput>,
  progress: Progress,
  filingCount: number | undefined,
  interrupt: AbortSignal,
): Promise<void> {
  const isSingle = filingCount === 1;
  const rule = createStopRule('filing');
  // `permanent` failures would come again in the next run.
  let [finished, failed, permanent] = [0, 0, 0];
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const result of flatten(groups)) {
      // Only for the type: `ReadAhead` yields a listing in place of each entry.
      if ('kind' in result && result.kind === 'entry') continue;
      const noMatch = 'files' in result ? await output.print(result.accession, result.files) : undefined;
      if (noMatch && !isSingle) progress.note(messageOf(noMatch));
      const error = 'error' in result ? result.error : isSingle ? noMatch : undefined;
      // After SIGINT or the like, or at the deadline, every request fails, which is not a failure of its filing.
      interrupt.throwIfAborted();
      // `1 of 1 filings failed` would say less.
      if (error && isSingle) throw error;
      finished += 1;
      if (error) failed += 1;
      if (error && !isTemporary(error)) permanent += 1;
      // Also records a success, because the rule counts failures in a row.
      stoppedBy = rule.record(error);
      // If this error itself stops the run, it is part of what `run` throws.
      if (error && error !== stoppedBy) progress.reportFailure(error);
      if (stoppedBy) break;
    }
    await output.end();
  } catch (error) {
    // On abort, `error` may only say that the destroyed input cannot be read.
    if (!interrupt.aborted) throw error;
    stoppedBy = interrupt.reason;
  }
  const notStarted = filingCount === undefined ? undefined : { files: 0, filings: filingCount - finished };
  const error = batchError({ ended: finished, failed, permanent, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

async function* flatten<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const group of groups) yield* group;
}

/**
 * The input may have one line per file, but `list` always lists the whole filing. So of consecutive lines with the same
 * accession number only the first is yielded. An argument, which has no line number, is always yielded.
 */
async function* dropRepeated(lines: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly Line[]> {
  let last: string | undefined;
  for await (const batch of lines) {
    yield batch.filter((line) => {
      const previous = last;
      // Each invalid line has its own error.
      last = line.kind === 'entry' && line.number !== undefined ? line.accession : undefined;
      return last === undefined || last !== previous;
    });
  }
}
