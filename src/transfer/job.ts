import type { RetryEvent } from '../http/retry.ts';
import type { ServiceClient } from '../service/client.ts';
import type { RemoteFile } from './outcome.ts';
import type { RemoteVersion } from './resume.ts';

// The interfaces between a transfer and the code around it: the sink for the bytes, and the watcher of the progress.

/**
 * The result of `finish`. `committed`: the bytes have the final name. `same`: an existing file has the same bytes.
 * `exists`: an existing file was kept without a comparison.
 */
export type Placement = 'committed' | 'same' | 'exists';

/** The destination of one file's bytes. Call `finish` on success, otherwise `abandon`. */
export interface Sink {
  /** The number of bytes written so far, including those of an earlier run. */
  readonly bytes: number;
  /** The version of the bytes that an earlier run wrote. */
  readonly version?: RemoteVersion | undefined;
  /** The number of bytes that one write should have on a fast network. Undefined: as many as a disk should get. */
  readonly writeBytes?: number;
  /** Whether `begin` can start again from byte 0. A pipe cannot once it has written a byte. */
  readonly isRestartable: boolean;
  /** Prepares for the whole body of this version, from byte 0. Throws `local_io`. */
  begin(version: RemoteVersion): Promise<void>;
  /** Appends bytes. Throws `local_io`, `interrupted` or the signal's reason. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /**
   * Returns the SHA-256 of all bytes. Needed if an earlier run wrote some of them, because a hash state is not stored.
   */
  sha256?(): Promise<string>;
  /** Commits the bytes. Throws `local_io`, `interrupted` or the signal's reason; then call `abandon`. */
  finish(): Promise<Placement>;
  /** Keeps the bytes only if a later run can resume them. Never throws. */
  abandon(error: unknown): Promise<void>;
}

/** Observes one transfer, for the progress display and the limits of the run. */
export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** A returned promise delays the transfer. */
  received(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /**
   * Called when all bytes have arrived and are checked. From then on, the file needs only the disk. A returned promise
   * delays the commit.
   */
  complete?(bytes: number, sha256: string | undefined): void | Promise<void>;
}

/** One file to fetch, with the state that its attempts share. */
export interface Job {
  readonly client: ServiceClient;
  readonly remoteFile: RemoteFile;
  readonly signal: AbortSignal;
  readonly watcher: Watcher;
  /** The SHA-256 that the file must have, in lower-case hexadecimal digits. */
  readonly expected: string | undefined;
  readonly isHashed: boolean;
  /** The number of requests so far. */
  attempts: number;
}
