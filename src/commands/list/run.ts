import { type Input, openInput } from '../../batch/input.ts';
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

/** Lists filings, some at a time, and shows them in their order. Continues after a failed one, but not after what would fail all the rest. */
async function listAll(request: ListRequest, session: Session, world: World): Promise<void> {
  const { progress, settings, signal } = session;
  const output = new ListOutput(request, session, world);
  const rule = new StopRule('filings', session.client.again);
  let [files, failed, onlyTemporary] = [0, 0, true];
  let stoppedBy: FilingsError | undefined;
  // Those that were asked for ahead end with the run.
  const stop = new AbortController();
  const within = AbortSignal.any([signal, stop.signal]);
  const input = request.input === undefined ? undefined : openInput(request.input, world, progress.note);
  const find = (line: Line) => findFiles(line, request, session, within);
  try {
    for await (const found of ahead(linesOf(request, input, progress.note), settings.jobs, find, within)) {
      const error = found instanceof FilingsError ? found : await output.show(found);
      if (error && !request.several) throw error;
      stoppedBy = signal.aborted ? signal.reason : rule.after(error);
      if (!signal.aborted) files += 1;
      if (error && !signal.aborted) {
        failed += 1;
        onlyTemporary &&= error.code === 'temporary';
        // What stops the run is told at its end.
        if (error !== stoppedBy) progress.failure(error);
      }
      if (stoppedBy) break;
    }
  } finally {
    stop.abort(stoppedBy);
    input?.close();
  }
  if (!signal.aborted) await output.flush();
  const notStarted = input ? undefined : request.accessions.length - files;
  const error = batchError({ files, failed, onlyTemporary, stoppedBy, notStarted }, 'filings');
  if (error) throw error;
}

type Line = { readonly accession: AccessionNumber } | { readonly fault: FilingsError };

/** Asks for one filing's listing; its failure is no exception here. */
async function findFiles(
  line: Line,
  { query }: ListRequest,
  session: Session,
  signal: AbortSignal,
): Promise<Listing | FilingsError> {
  if ('fault' in line) return line.fault;
  const { accession } = line;
  try {
    return { accession, files: await listFiles(session, accession, { query, signal }) };
  } catch (error) {
    if (error instanceof FilingsError) return error;
    throw error;
  }
}

/** The arguments, then the input; a filing that several lines in a row name is asked for once. */
async function* linesOf(
  { accessions }: ListRequest,
  input: Input | undefined,
  note: (message: string) => void,
): AsyncGenerator<Line> {
  for (const accession of accessions) yield { accession };
  if (input === undefined) return;
  let last: string | undefined;
  for await (const batch of readBatches(input.bytes, note)) {
    for (const line of batch) {
      if (line.kind === 'bad') yield { fault: line.fault.reworded(`line ${line.number}: ${line.fault.message}`) };
      else if (line.accession !== last) yield line;
      last = line.kind === 'entry' ? line.accession : undefined;
    }
  }
}
