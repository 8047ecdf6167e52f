// One of `--jobs` is a slot. A file holds it while it needs the service. Once all of its bytes have arrived and are
// checked, it needs only the disk: it is completed (flushed, named, reported) without a slot, and the next file starts.
// Otherwise the latency of the service and the flushes of the disk would add up for each file. With a single slot each
// file is completed before the next one starts, so that the files end in the order of the input.

/** How many files may be completed without a slot: for each slot but one, and in all, because each holds a descriptor. */
const MAX_COMPLETING_PER_SLOT = 4;
const MAX_COMPLETING = 64;
/** Bytes of all these files: the disk may still have to write them when a signal ends the run. */
const MAX_COMPLETING_BYTES = 64 << 20;

export interface JobSlot {
  /** Gives the slot to the next file, if there is room for one more file to complete. Returns whether it did. */
  release(bytes: number): boolean;
  /** Waits for a slot again, if it was released. The file has to be fetched once more. */
  reacquire(): Promise<void>;
  /** The file has ended. */
  end(): void;
}

export class JobSlots {
  readonly #slots: number;
  readonly #onFree: () => void;
  #taken = 0;
  #completing = 0;
  #completingBytes = 0;
  /** Files that wait for a slot again. They come before new files. */
  readonly #waiting: (() => void)[] = [];

  /** `onFree` is called when a slot is free for a new file. */
  constructor(slots: number, onFree: () => void) {
    this.#slots = slots;
    this.#onFree = onFree;
  }

  get areTaken(): boolean {
    return this.#taken >= this.#slots;
  }

  /** Call this only while a slot is free. */
  take(): JobSlot {
    this.#taken += 1;
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
        if (this.areTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        else this.#taken += 1;
      },
      end: () => {
        if (completing === undefined) this.#pass();
        else endCompleting(completing);
      },
    };
  }

  #hasRoom(bytes: number): boolean {
    const mostFiles = Math.min(MAX_COMPLETING, MAX_COMPLETING_PER_SLOT * (this.#slots - 1));
    return this.#completing < mostFiles && this.#completingBytes + bytes <= MAX_COMPLETING_BYTES;
  }

  /** Passes a slot to a file that waits for it, or frees it. */
  #pass(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else {
      this.#taken -= 1;
      this.#onFree();
    }
  }
}
