import { basename, dirname } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import { requireHash } from './checked.ts';
import type { Outcome, Wanted } from './outcome.ts';
import type { Places, Where } from './places.ts';
import { type IfExists, save } from './save.ts';
import { Pipe } from './sinks/pipe.ts';
import { Spool } from './sinks/spool.ts';
import { type Remote, type Sink, type Transferred, transfer, type Watcher } from './transfer.ts';

/** What every file of a run is fetched with. */
export interface Fetching {
  readonly client: ServiceClient;
  readonly places: Places;
  readonly monotonic: () => number;
}

/** Where one file goes on disk. */
export interface Target {
  /** Absolute. */
  readonly path: string;
  /** For a path that the service or an input has a part in: the directory that the user named, and the rest. */
  readonly below?: {
    /** Absolute. */
    readonly directory: string;
    /** Relative, with slashes, each segment a safe name: no link on it is followed. */
    readonly path: string;
  };
  /** The path as the user would name it. */
  readonly shown: string;
  /** Whether the directory is made if missing; otherwise its absence is an error, as for the shell's `>`. */
  readonly makeDirectory: boolean;
  readonly ifExists: IfExists;
  /** What the file must hash to. */
  readonly sha256?: string | undefined;
}

/** Fetches a file to disk. A failure is an outcome, not an exception. */
export function fetchToDisk(
  wanted: Wanted,
  target: Target,
  fetching: Fetching,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  return outcomeOf(wanted, target.shown, fetching, async (remote) => {
    const { client, places } = fetching;
    const saved = await places.use(whereOf(target), (place) =>
      save(
        remote,
        {
          ...place,
          name: basename(target.path),
          ifExists: target.ifExists,
          identity: { base_url: client.baseUrl, accession_no: wanted.accession, file_name: wanted.fileName },
          owner: places.owner,
          uid: places.uid,
          nextSerial: () => places.nextSerial(),
          sha256: target.sha256,
          hashWorker: places.hashWorker,
        },
        client.persistence,
        signal,
        watcher,
      ),
    );
    if (saved.kind === 'skipped') return { ...saved, result: 'skipped' };
    return { ...saved, result: howItCame(saved) };
  });
}

function whereOf({ path, below, makeDirectory: make }: Target): Where {
  if (!below) return { directory: dirname(path), below: '', make };
  const folder = dirname(below.path);
  return { directory: below.directory, below: folder === '.' ? '' : folder, make };
}

/** A place that takes bytes for good: a pipe, a device, standard output. */
export interface StreamTarget {
  readonly open: (signal: AbortSignal) => Promise<ByteWriter>;
  /** What the file must hash to. */
  readonly sha256?: string | undefined;
  /** A folder for a temporary file: all is fetched and checked before the first byte is written. */
  readonly spoolIn?: string | undefined;
}

/** Fetches a file into a stream. A failure is an outcome, not an exception. */
export function fetchToStream(
  wanted: Wanted,
  target: StreamTarget,
  fetching: Fetching,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const { persistence } = fetching.client;
  return outcomeOf(wanted, null, fetching, async (remote) => {
    const move = (sink: Sink) => transfer(remote, sink, persistence, signal, watcher);
    return target.spoolIn === undefined
      ? fetchStraight(remote, target, signal, move)
      : fetchSpooled(remote, target, signal, move);
  });
}

type Move = (sink: Sink) => Promise<Transferred>;

async function fetchStraight(remote: Remote, { open, sha256 }: StreamTarget, signal: AbortSignal, move: Move) {
  const writer = await open(signal);
  const pipe = new Pipe(writer, signal, sha256);
  try {
    const moved = await move(pipe);
    await writer.end();
    const found = sha256 === undefined ? undefined : pipe.sha256();
    if (found !== undefined) requireHash(remote.what, found, sha256);
    return { ...moved, sha256: found, result: howItCame(moved) };
  } catch (error) {
    throw pipe.held.bytes > 0 && !signal.aborted ? cutShort(error) : error;
  }
}

async function fetchSpooled(
  remote: Remote,
  { open, sha256, spoolIn = '' }: StreamTarget,
  signal: AbortSignal,
  move: Move,
) {
  const spool = await Spool.open(spoolIn, sha256);
  try {
    const moved = await move(spool);
    const found = sha256 === undefined ? undefined : await spool.sha256();
    if (found !== undefined) requireHash(remote.what, found, sha256);
    const writer = await open(signal);
    await spool.copyTo(writer, signal);
    await writer.end();
    return { ...moved, sha256: found, result: howItCame(moved) };
  } finally {
    await spool.close();
  }
}

function howItCame({ saved }: Transferred): 'resumed' | 'downloaded' {
  return saved > 0 ? 'resumed' : 'downloaded';
}

/** What is out is out: whatever ended the transfer, the reader has got a part of the file. */
function cutShort(error: unknown): unknown {
  if (!(error instanceof FilingsError) || error.code === 'interrupted' || error.code === 'local_io') return error;
  if (error.code === 'integrity') return error;
  return error.reworded(error.message, {
    code: 'integrity',
    hint: 'part of it was written already; --spool writes all or nothing',
  });
}

/** Does the work with the wanted file as its remote, and turns how it ended into an outcome. */
async function outcomeOf(
  wanted: Wanted,
  path: string | null,
  { client, monotonic }: Fetching,
  work: (remote: Remote) => Promise<Partial<Outcome> & Pick<Outcome, 'result' | 'bytes'>>,
): Promise<Outcome> {
  const { accession, fileName } = wanted;
  const started = monotonic();
  let attempts = 0;
  const remote: Remote = {
    what: `${fileName} of ${accession}`,
    open(range, signal) {
      attempts += 1;
      return client.openFile(accession, fileName, range, signal);
    },
  };
  const base = { wanted, path, saved: 0, moved: 0, verifiedLength: true };
  try {
    const done = await work(remote);
    return { ...base, ...done, attempts, ms: monotonic() - started };
  } catch (error) {
    if (!(error instanceof FilingsError)) throw error;
    return { ...base, result: 'failed', bytes: 0, verifiedLength: false, attempts, ms: monotonic() - started, error };
  }
}
