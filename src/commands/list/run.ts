import { openInput } from '../../batch/input.ts';
import { readBatches } from '../../batch/input-lines.ts';
import { StopRule } from '../../batch/stop-rule.ts';
import { batchError } from '../../batch/verdict.ts';
import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { listFiles } from '../../session/list-files.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import type { World } from '../../world.ts';
import { ahead } from './ahead.ts';
import { type Listing, ListOutput } from './output.ts';
import { type ListRequest, readRequest } from './request.ts';
import type { OPTIONS } from './spec.ts';

/** `filings list`: the names of each filing's files, on stdout as the listings arrive. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const request = readRequest(args, options, world.argv);
  const session = await openSession(flags, world, {
    stdinUser: request.input === '-' ? '--input -' : undefined,
    writesStdout: true,
  });
  try {
    await listAll(request, session, world);
    return 0;
  } finally {
    await session.close();
  }
}

/** Lists filings, some at a time, and shows them in their order. Goes on after a failed one, but not after what would fail all the rest. */
async function listAll(request: ListRequest, session: Session, world: World): Promise<void> {
  const { progress, signal } = session;
  const output = new ListOutput(request, session, world);
  const stops = new StopRule('filings', session.client.again);
  let [listed, failed, onlyTemporary] = [0, 0, true];
  let stoppedBy: FilingsError | undefined;
  // Those that were asked for ahead end with the run.
  const stop = new AbortController();
  const within = { ...session, signal: AbortSignal.any([signal, stop.signal]) };
  const lines = linesOf(request, session, world);
  for await (const sought of ahead(
    lines,
    session.settings.jobs,
    (line) => find(line, request, within),
    within.signal,
  )) {
    const error = sought.found ? await output.show(sought.found) : sought.error;
    if (error && !request.several) throw error;
    stoppedBy = signal.aborted ? signal.reason : stops.after(error);
    if (!error) {
      listed += 1;
    } else if (!signal.aborted) {
      failed += 1;
      onlyTemporary &&= error.code === 'temporary';
      // What stops the run is told at its end.
      if (error !== stoppedBy) progress.failure(error);
    }
    if (stoppedBy) break;
  }
  stop.abort(stoppedBy);
  if (!signal.aborted) await output.flush();
  const files = listed + failed;
  const notStarted = request.input === undefined ? request.accessions.length - files : undefined;
  const verdict = batchError({ files, failed, onlyTemporary, stoppedBy, notStarted }, 'filings');
  if (verdict) throw verdict;
}

type Line = { readonly accession: AccessionNumber } | { readonly fault: FilingsError };

type Found = { found: Listing; error?: undefined } | { found?: undefined; error: FilingsError };

/** Asks for one filing's listing; its failure is no exception here. */
async function find(line: Line, { query }: ListRequest, session: Session): Promise<Found> {
  if ('fault' in line) return { error: line.fault };
  const { accession } = line;
  try {
    return { found: { accession, files: await listFiles(session, accession, { query, signal: session.signal }) } };
  } catch (error) {
    if (error instanceof FilingsError) return { error };
    throw error;
  }
}

/** The arguments, then the input; a filing that several lines in a row name is asked for once. */
async function* linesOf(
  { accessions, input }: ListRequest,
  { progress, signal }: Session,
  world: World,
): AsyncGenerator<Line> {
  const opened = input === undefined ? undefined : await openInput(input, world, signal);
  for (const accession of accessions) yield { accession };
  if (opened === undefined) return;
  if (input === '-' && world.stdin.isTTY) progress.note('reading accession numbers from stdin; end with Ctrl-D');
  let last: string | undefined;
  for await (const batch of readBatches(opened.bytes, (message) => progress.note(message))) {
    for (const line of batch) {
      if (line.kind === 'bad') yield { fault: atLine(line.number, line.fault) };
      else if (line.accession !== last) yield line;
      last = line.kind === 'entry' ? line.accession : undefined;
    }
  }
}

function atLine(number: number, { code, message, hint }: FilingsError): FilingsError {
  return new FilingsError(code, `line ${number}: ${message}`, hint === undefined ? {} : { hint });
}
