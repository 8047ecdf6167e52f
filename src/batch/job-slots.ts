// One of `--jobs` is a slot. A file holds it while it needs the service. Once all of its bytes have arrived and are
// checked, it needs only the disk: it is completed (flushed, named, reported) without a slot, and the next file starts.
// Otherwise the latency of the service and the flushes of the disk would add up for each file. With a single slot each
// file is completed before the next one starts, so that fetched files end in the order of the input.

/** Number of files that may be completed without a slot, for each slot but one. */
const MAX_COMPLETING_PER_SLOT = 4;
/** Number of these files in all, because each has an open descriptor. */
const MAX_COMPLETING = 64;
/** Bytes of all these files. The disk may still have to write them after a signal ends the run. */
const MAX_COMPLETING_BYTES = 64 << 20;

/** The slot of one file. */
export interface JobSlot {
  /** Passes the slot to the next file if one more file may be completed without one. Returns whether it did. */
  release(bytes: number): boolean;
  /** Waits for a slot again, if it was released. The file has to be fetched once more. */
  reacquire(): Promise<void>;
  /** Call this when the file has ended. */
  end(): void;
}

/** The slots of `--jobs`. */
export class JobSlots {
  readonly #maxSlots: number;
  readonly #onFree: () => void;
  #used = 0;
  #completing = 0;
  #completingBytes = 0;
  /** Files that wait for a slot again. They come before new files. */
  readonly #waiting: (() => void)[] = [];

  /** `onFree` is called when a slot is free for a new file. */
  constructor(slots: number, onFree: () => void) {
    this.#maxSlots = slots;
    this.#onFree = onFree;
  }

  /** Whether a new file must wait for a slot. */
  get isFull(): boolean {
    return this.#used >= this.#maxSlots;
  }

  /** Returns a slot. Call this only while one is free. */
  acquire(): JobSlot {
    this.#used += 1;
    /** Undefined while the file holds its slot. */
    let completing: number | undefined;
    const endCompleting = (bytes: number) => {
      completing = undefined;
      this.#completing -= 1;
      this.#completingBytes -= bytes;
    };
    return {
      release: (bytes) => {
        if (!this.#hasRoom(bytes)) return false;
        completing = bytes;
        this.#completing += 1;
        this.#completingBytes += bytes;
        this.#pass();
        return true;
      },
      reacquire: async () => {
        if (completing === undefined) return;
        endCompleting(completing);
        if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        else this.#used += 1;
      },
      end: () => {
        if (completing === undefined) this.#pass();
        else endCompleting(completing);
      },
    };
  }

  #hasRoom(bytes: number): boolean {
    const mostFiles = Math.min(MAX_COMPLETING, MAX_COMPLETING_PER_SLOT * (this.#maxSlots - 1));
    return this.#completing < mostFiles && this.#completingBytes + bytes <= MAX_COMPLETING_BYTES;
  }

  /** Passes a slot to a file that waits for it, or frees it. */
  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else {
      this.#used -= 1;
      this.#onFree();
    }
  }
}
