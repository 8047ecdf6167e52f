import type { Placed } from '../part/commit.ts';
import type { Held, Version } from '../resume.ts';

/** Where the bytes of one file go. It ends itself: by `finish` when all have come, or else by `abandon`. */
export interface Sink {
  readonly held: Held;
  /** Whether it can begin again from byte 0: a pipe can't once a byte is out. */
  readonly restartable: boolean;
  /** The whole body is about to come, of this version. */
  begin(version: Version): Promise<void>;
  /** The rest of the body is about to come. */
  append(total: number): void;
  write(chunks: readonly Buffer[]): Promise<void>;
  /** Whether what is held hashes to what the file must hash to; never where that is not known. */
  proves(): Promise<boolean>;
  /**
   * All is there: checks its hash, and gives it to whom it is for. Throws `integrity`, `local_io`, `interrupted`,
   * the signal's reason: `abandon` comes then all the same.
   */
  finish(): Promise<Finished>;
  /** The file did not come, because of `error`: keeps what another run can go on with, lets go of the rest. Gives how many bytes were kept; never throws. */
  abandon(error: unknown): Promise<number>;
}

export interface Finished {
  /** Whether the file has its place: only a name on disk can be another's by now. */
  readonly placed: Placed;
  /** In lower-case hexadecimal digits, where it was asked for or required. */
  readonly sha256: string | undefined;
}
