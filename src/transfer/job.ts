// A transfer (transfer.ts) fetches one file in one or more attempts. It needs three things from the code around it: a
// sink for the bytes (part.ts for the disk, pipe.ts for a stream), a watcher of the progress, and the job itself.
import type { RetryEvent } from '../http/retry.ts';
import type { ServiceClient } from '../service/client.ts';
import type { RemoteFile } from './outcome.ts';
import type { RemoteVersion } from './resume.ts';

/**
 * What became of the bytes. `committed`: they are in the file with the final name, or in the stream. `same`: they were
 * dropped, because an existing file with the final name has the same bytes. `exists`: they were dropped, because an
 * existing file has the final name, and was not compared.
 */
export type CommitResult = 'committed' | 'same' | 'exists';

/** The destination of one file's bytes. Call `finish` after a success, and `abandon` after a failure. */
export interface Sink {
  /** The number of bytes so far, including those of an earlier run. */
  readonly bytes: number;
  /** The remote file's version to which the bytes of an earlier run belong. */
  readonly version?: RemoteVersion | undefined;
  /** The most bytes that one write should have. If undefined, as many as have arrived, which suits a disk. */
  readonly maxWriteBytes?: number;
  /** Whether `restart` can be called. For a pipe it cannot be called after the first byte. */
  readonly isRestartable: boolean;
  /**
   * Drops the bytes so far, if there are any, and starts at byte 0 of this version. Not called to resume: then `write`
   * appends to the bytes that the sink has. Throws `local_io`.
   */
  restart(version: RemoteVersion): Promise<void>;
  /** Appends bytes. Throws `local_io`, `interrupted` or the signal's reason. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /**
   * Reads the bytes back and returns their SHA-256. Needed if an earlier run wrote some of them, because the state of a
   * hash cannot be stored. Missing in a sink that never has such bytes. Throws `local_io` or the signal's reason.
   */
  sha256?(): Promise<string>;
  /**
   * Commits the bytes, which are complete and checked: gives them the final name, or ends the stream. Throws
   * `local_io`, `interrupted`, the signal's reason, or on the disk also `integrity` or `temporary`. If it throws, call
   * `abandon`.
   */
  finish(): Promise<CommitResult>;
  /** Drops the bytes, unless a later run can resume them after this error. Never throws. */
  abandon(error: unknown): Promise<void>;
}

/** Is told what happens to one transfer, for the progress display and the limits of the run. */
export interface Watcher {
  /**
   * An attempt has got its response. `offset` is the number of bytes that the sink still has from before, and
   * `totalBytes` the length of the file, if it is known.
   */
  onAttempt(totalBytes: number | undefined, offset: number): void;
  /** `newBytes` more bytes have arrived. A returned promise delays the transfer. */
  onReceived(newBytes: number): void | Promise<void>;
  onRetry(event: RetryEvent): void;
  /**
   * All bytes have arrived, and `expectedSha256`, if there is one, has been checked. The next step is the commit, which
   * needs no network. A returned promise delays it.
   */
  onComplete?(totalBytes: number, sha256: string | undefined): void | Promise<void>;
}

/** One file to fetch. */
export interface Job {
  readonly client: ServiceClient;
  readonly remoteFile: RemoteFile;
  readonly signal: AbortSignal;
  readonly watcher: Watcher;
  /** The SHA-256 that the file must have, in lower-case hexadecimal digits. */
  readonly expectedSha256: string | undefined;
  /** Whether the SHA-256 must be computed and returned in the outcome. Always true if there is an `expectedSha256`. */
  readonly needsHash: boolean;
  /**
   * The number of requests so far, to which the transfer adds. An attempt makes one, or two if it requests a range,
   * cannot use the response, and so requests the whole file.
   */
  requestCount: number;
}
