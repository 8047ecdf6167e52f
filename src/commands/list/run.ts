import { childOf, onAbort } from '../../abort.ts';
import { type Input, openInput } from '../../batch/input.ts';
import { readBatches } from '../../batch/input-lines.ts';
import type { Selected } from '../../batch/selection.ts';
import { batchError, StopRule } from '../../batch/verdict.ts';
import { FilingsError } from '../../errors.ts';
import type { ListedFile } from '../../service/listing/listing.ts';
import { listFiles } from '../../session/list-files.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import type { World } from '../../world.ts';
import { ListOutput } from './output.ts';
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
  const { progress, signal } = session;
  const output = new ListOutput(request, session, world);
  const rule = new StopRule('filing', session.client.again);
  const input = request.input === undefined ? undefined : openInput(request.input, world, progress.note);
  const forget = onAbort(signal, () => input?.close());
  let [files, failed, onlyTemporary] = [0, 0, true];
  let stoppedBy: FilingsError | undefined;
  try {
    for await (const { accession, found } of endingsOf(linesOf(request, input, progress.note), request, session)) {
      const error = found instanceof FilingsError ? found : await output.show(accession, found);
      signal.throwIfAborted();
      if (error && !request.several) throw error;
      files += 1;
      if (error) failed += 1;
      onlyTemporary &&= !error || error.code === 'temporary';
      stoppedBy = rule.after(error);
      // What stops the run is told at its end.
      if (error && error !== stoppedBy) progress.failure(error);
      if (stoppedBy) break;
    }
    await output.flush();
  } catch (error) {
    // Closing the input fails whoever reads it.
    if (!signal.aborted) throw error;
    stoppedBy = signal.reason;
  } finally {
    forget();
    input?.close();
  }
  const notStarted = input ? undefined : request.accessions.length - files;
  const error = batchError({ files, failed, onlyTemporary, stoppedBy, notStarted }, 'filing');
  if (error) throw error;
}

interface Ending {
  readonly accession: string;
  readonly found: readonly ListedFile[] | FilingsError;
}

/** The listings of a few lines are asked for at the same time, and given in their order. */
async function* endingsOf(
  lines: AsyncIterable<readonly Selected[]>,
  { query }: ListRequest,
  session: Session,
): AsyncGenerator<Ending> {
  const stop = childOf(session.signal);
  const find = async (line: Selected): Promise<Ending> => {
    if (line.kind === 'bad') return { accession: '', found: line.fault };
    const { accession } = line;
    const found = await listFiles(session, accession, { query, signal: stop.signal }).catch((error) => {
      if (error instanceof FilingsError) return error;
      throw error;
    });
    return { accession, found };
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
    stop.letGo();
  }
}

/** The arguments, then the input; a filing that several lines in a row name is asked for once. */
async function* linesOf(
  { accessions }: ListRequest,
  input: Input | undefined,
  note: (message: string) => void,
): AsyncGenerator<readonly Selected[]> {
  yield accessions.map((accession) => ({ kind: 'entry', accession }));
  if (input === undefined) return;
  let last: string | undefined;
  for await (const batch of readBatches(input.bytes, note)) {
    yield batch.flatMap((line): Selected[] => {
      const before = last;
      last = line.kind === 'entry' ? line.accession : undefined;
      if (line.kind === 'entry') return line.accession === before ? [] : [line];
      return [{ ...line, fault: line.fault.reworded(`line ${line.number}: ${line.fault.message}`) }];
    });
  }
}
