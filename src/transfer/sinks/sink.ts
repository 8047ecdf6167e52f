import type { Placement } from '../part/commit.ts';
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
  /** The SHA-256 of what is held, in lower-case hexadecimal digits; to be asked for only where it was said to be. */
  sha256(): Promise<string>;
  /**
   * All is there and proved: gives it to whom it is for. Throws `local_io`, `interrupted`, the signal's reason: `abandon`
   * comes then all the same.
   */
  finish(): Promise<Placement>;
  /** The file did not come, because of `error`: keeps what another run can go on with, lets go of the rest. Gives how many bytes were kept; never throws. */
  abandon(error: unknown): Promise<number>;
}
