import type { Readable } from 'node:stream';
import { childOf, onAbort } from '../../abort.ts';
import { nameFilter } from '../../batch/glob.ts';
import { type Line, openInput, readLines } from '../../batch/input.ts';
import { batchError, type FailureKind, failureKind, StopRule } from '../../batch/verdict.ts';
import { FilingsError } from '../../errors.ts';
import { type AccessionNumber, parseAccession, pasted } from '../../service/accession.ts';
import type { ListedFile } from '../../service/listing.ts';
import type { Parameter } from '../../service/listing-pages.ts';
import { listFiles, openSession, type Session } from '../../session/session.ts';
import { retyped } from '../../settings/hint-command.ts';
import type { Invocation } from '../../spec/command.ts';
import { shortened } from '../../text.ts';
import type { World } from '../../world.ts';
import { listOutput } from './output.ts';
import type { OPTIONS } from './spec.ts';

export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { input, json, long, null: nul } = options;
  if (args.length === 0 && input === undefined) {
    throw new FilingsError('usage', 'no ACCESSION', {
      subject: { name: 'list' },
      hint: 'name a filing: filings list 0001234567-24-000001; or take them from a file: --input FILE',
    });
  }
  const accessions = args.map((text) => accessionOf(text, world.argv));
  const several = args.length > 1 || input !== undefined;
  const look = { several, chosen: nameFilter(options.include, options.exclude), json, long, nul };
  const stdinUser = input === '-' ? '--input -' : undefined;
  const session = await openSession(flags, world, { stdinUser, writesStdout: true });
  try {
    const opened = input === undefined ? undefined : openInput(input, world, session.progress.note);
    const endings = endingsOf(linesOf(accessions, opened, session.progress.note), options.query, session);
    const output = listOutput(look, session, world);
    const count = opened ? undefined : accessions.length;
    await showAll(endings, output, session, count, () => opened?.destroy());
    return 0;
  } finally {
    await session.close();
  }
}

/** The error about a pasted URL has the command that was meant. */
function accessionOf(text: string, argv: readonly string[]): AccessionNumber {
  const meant = pasted(text);
  if (meant === undefined) return parseAccession(text);
  throw new FilingsError('usage', `'${shortened(text, 60)}' is not an accession number`, {
    hint: `did you mean: ${retyped(argv, new Map([[text, [meant.accession]]]))}`,
  });
}

interface Ending {
  readonly accession: string;
  readonly found: readonly ListedFile[] | FilingsError;
}

/**
 * Continues after a failed filing, but not after what would fail all the rest.
 * @param count of the filings; undefined where they are read
 */
async function showAll(
  endings: AsyncIterable<Ending>,
  output: ReturnType<typeof listOutput>,
  { client, progress, signal }: Session,
  count: number | undefined,
  close: () => void,
): Promise<void> {
  const rule = new StopRule('filing', client.options.again);
  const forget = onAbort(signal, close);
  let [files, failed] = [0, 0];
  const failures = new Set<FailureKind>();
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const { accession, found } of endings) {
      const error = found instanceof FilingsError ? found : await output.show(accession, found);
      signal.throwIfAborted();
      if (error && count === 1) throw error;
      files += 1;
      if (error) failed += 1;
      if (error) failures.add(failureKind(error));
      stoppedBy = rule.after(error);
      // What stops the run is told at its end.
      if (error && error !== stoppedBy) progress.failure(error);
      if (stoppedBy) break;
    }
    await output.end();
  } catch (error) {
    // Closing the input fails whoever reads it.
    if (!signal.aborted) throw error;
    stoppedBy = signal.reason;
  } finally {
    forget();
    close();
  }
  const notStarted = count && count - files;
  const error = batchError({ files, failed, failures, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

/** The listings of a few lines are asked for at the same time, and given in their order. */
async function* endingsOf(
  lines: AsyncIterable<readonly Line[]>,
  query: readonly Parameter[],
  session: Session,
): AsyncGenerator<Ending> {
  const stop = childOf(session.signal);
  const find = async (line: Line): Promise<Ending> => {
    if (line.kind === 'bad') return { accession: '', found: line.error };
    const { accession } = line;
    const listing = await listFiles(session, accession, query, stop.signal).catch((error) => {
      if (error instanceof FilingsError) return error;
      throw error;
    });
    return { accession, found: listing instanceof FilingsError ? listing : listing.files };
  };
  const finding: Promise<Ending>[] = [];
  try {
    for await (const batch of lines) {
      for (const line of batch) {
        const ending = find(line);
        // Its failure is thrown where it is awaited.
        ending.catch(() => {});
        finding.push(ending);
        if (finding.length === session.settings.jobs) yield (await finding.shift()) as Ending;
      }
      while (finding.length > 0) yield (await finding.shift()) as Ending;
    }
  } finally {
    stop.abort(undefined);
    stop.detach();
  }
}

/** The arguments, then the input; a filing that several lines in a row name is asked for once. */
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
      const before = last;
      last = line.kind === 'entry' ? line.accession : undefined;
      return last === undefined || last !== before;
    });
  }
}
