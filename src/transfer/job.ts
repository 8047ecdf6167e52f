import type { RetryEvent } from '../http/retry.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Wanted } from './outcome.ts';
import type { RemoteVersion } from './resume.ts';

/**
 * What became of a file's bytes. `committed`: they have the final name. `same`: an existing file has the same bytes.
 * `exists`: an existing file was kept without a comparison. `partMissing`: the part or its directory was removed.
 */
export type Placement = 'committed' | 'same' | 'exists' | 'partMissing';

/** Where the bytes of one file go. It ends itself: by `finish` when all have come, or else by `abandon`. */
export interface Sink {
  /** Those of an earlier run among them. */
  readonly bytes: number;
  /** Of the bytes of an earlier run. */
  readonly version?: RemoteVersion | undefined;
  /** Whether it can begin again from byte 0: a pipe can't once a byte is out. */
  readonly restartable: boolean;
  /** Before the whole body of this version comes. */
  begin(version: RemoteVersion): Promise<void>;
  write(chunks: readonly Buffer[]): Promise<void>;
  /** Needed where an earlier run has left some of the bytes: a hash can't be saved. */
  sha256?(): Promise<string>;
  /** Throws `local_io`, `interrupted`, the signal's reason: `abandon` comes then all the same. */
  finish(): Promise<Placement>;
  /** Leaves only what a later run can resume. Never throws. */
  abandon(error: unknown): Promise<void>;
}

export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** What it waits for holds the transfer back. */
  received(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /** All bytes have arrived and are checked: from now on the file needs only the disk. */
  complete?(bytes: number): void;
  /** The file has to be fetched once more after `complete`. A returned promise delays that. */
  fetchAgain?(): void | Promise<void>;
  warn?(text: string): void;
}

export interface Job {
  readonly client: ServiceClient;
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
  readonly watcher: Watcher;
  /** Requests so far. */
  attempts: number;
}

/** A SHA-256 is in lower-case hexadecimal digits. */
export interface Hashing {
  /** What the file must hash to. */
  readonly expected: string | undefined;
  readonly isHashed: boolean;
}
