import { basename, dirname } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ByteWriter } from '../stdio/byte-writer.ts';
import type { Outcome, Wanted } from './outcome.ts';
import type { Places, Where } from './places.ts';
import type { IfExists } from './present.ts';
import { Proof } from './proof.ts';
import { type ListedSizes, save } from './save.ts';
import { Pipe } from './sinks/pipe.ts';
import { Spool } from './sinks/spool.ts';
import { type Fetched, fetchInto, type Remote, type Watcher } from './transfer.ts';

/** What every file of a run is fetched with. */
export interface Fetching {
  readonly client: ServiceClient;
  readonly places: Places;
  readonly listedSizes: ListedSizes;
  readonly monotonic: () => number;
}

/** Where one file goes on disk. */
export interface Target {
  /** Absolute. */
  readonly path: string;
  /** For a path that the service or an input has a part in: the directory that the user named, and the rest. */
  readonly below?:
    | {
        /** Absolute. */
        readonly directory: string;
        /** Relative, with slashes, each segment a safe name: no link on it is followed. */
        readonly path: string;
      }
    | undefined;
  /** The path as the user would name it. */
  readonly shown: string;
  /** Whether the directory is made if missing; otherwise its absence is an error, as for the shell's `>`. */
  readonly makeDirectory: boolean;
  readonly ifExists: IfExists;
  /** The size that the listing gave, of a record that names exactly this file. Bytes. */
  readonly listedSize?: number | undefined;
  /** What the file must hash to. */
  readonly sha256?: string | undefined;
  /** The outcome is to have the SHA-256 of a file that came; one that is skipped is read only where a hash is required. */
  readonly hashed?: boolean | undefined;
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
    const { ifExists, listedSize } = target;
    const saving = {
      where: whereOf(target),
      final: basename(target.path),
      identity: { base_url: fetching.client.baseUrl, accession_no: wanted.accession, file_name: wanted.fileName },
      ifExists,
      listedSize,
      proof: new Proof(target.sha256, target.hashed),
      signal,
    };
    const { kind, placed: _, ...saved } = await save(remote, saving, fetching, watcher);
    return { ...saved, result: kind === 'skipped' ? 'skipped' : saved.saved ? 'resumed' : 'downloaded' };
  });
}

/** The directory that a file is written to. */
export function whereOf({ path, below, makeDirectory: make }: Target): Where {
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
  { open, sha256, spoolIn }: StreamTarget,
  fetching: Fetching,
  signal: AbortSignal,
  watcher: Watcher,
): Promise<Outcome> {
  const proof = new Proof(sha256);
  return outcomeOf(wanted, null, fetching, async (remote) => {
    const sink =
      spoolIn === undefined
        ? new Pipe(await open(signal), proof, signal)
        : await Spool.open({ folder: spoolIn, openWriter: open, proof, signal });
    return cameBy(await fetchInto(remote, sink, signal, watcher));
  });
}

/** What an outcome tells of a file that came. */
function cameBy({ placed: _, ...fetched }: Fetched) {
  return { ...fetched, result: fetched.saved > 0 ? 'resumed' : 'downloaded' } as const;
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
    subject: { accession, fileName },
    open(range, signal) {
      attempts += 1;
      return client.openFile(accession, fileName, range, signal);
    },
    retry: client.retry,
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
