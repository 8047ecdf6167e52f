import type { RetryEvent } from '../http/retry.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Wanted } from './outcome.ts';
import type { Version } from './resume.ts';

/** `taken`: something had the name already; `lost`: the part's name, or its directory, is not there any more. */
export type Placement = 'placed' | 'taken' | 'lost';

/** Where the bytes of one file go. It ends itself: by `finish` when all have come, or else by `abandon`. */
export interface Sink {
  /** How many it has, those that an earlier run has left among them. */
  readonly bytes: number;
  /** What those of an earlier run are of. */
  readonly version?: Version | undefined;
  /** Whether it can begin again from byte 0: a pipe can't once a byte is out. */
  readonly restartable: boolean;
  /** The whole body is about to come, of this version. */
  begin(version: Version): Promise<void>;
  write(chunks: readonly Buffer[]): Promise<void>;
  /** The SHA-256 of what it has, where an earlier run has left some of it: a hash can't be saved. */
  sha256?(): Promise<string>;
  /** All is there and proved. Throws `local_io`, `interrupted`, the signal's reason: `abandon` comes then all the same. */
  finish(): Promise<Placement>;
  /** The file did not come, because of `error`: leaves what another run can resume, and gives how many bytes; never throws. */
  abandon(error: unknown): Promise<number>;
}

export interface Watcher {
  total(bytes: number | undefined, offset: number): void;
  /** So many bytes of the body came; what it waits for holds the transfer back. */
  received(bytes: number): void | Promise<void>;
  retry(event: RetryEvent): void;
  /** Something that a person should know. */
  warn?(text: string): void;
  /** It has failed, and so many bytes are left for another run to resume. */
  resumable(bytes: number): void;
}

/** One file that is asked for. */
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
