import { createHash, type Hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { orAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { ThreadCode } from '../../own-files.ts';
import type { GatheredFile } from '../gathered-file.ts';
import { sha256OfBytes } from './sha256.ts';

/** A smaller file is hashed in the time that a thread takes to start. */
const WORTH_A_THREAD_BYTES = 16 << 20;

/** What the thread is told. */
export type HashOrder =
  | { readonly kind: 'restart' }
  | { readonly kind: 'reached'; readonly bytes: number }
  | { readonly kind: 'finish'; readonly bytes: number };

export type HashAnswer = { readonly sha256: string } | { readonly missing: number };

/**
 * Hashes a file while it is being written. A small one that is written from its first byte is hashed as its chunks go
 * by. Beside a large one a second thread reads what has been written, so the hash is of what stands on disk; so it is
 * for a file that an earlier run began. Both read the open file: what happens to its name is no matter.
 */
export class FollowingHash {
  readonly #file: GatheredFile;
  readonly #shown: string;
  readonly #thread: ThreadCode;
  /** Of all chunks that the file has; undefined once not all went by here, or they are many. */
  #goingBy: Hash | undefined;
  #worker: Worker | undefined;
  #failed = false;

  /** `shown` is the path for people, `thread` the built `hash-worker`. To be closed before the file is. */
  constructor(file: GatheredFile, shown: string, thread: ThreadCode) {
    this.#file = file;
    this.#shown = shown;
    this.#thread = thread;
  }

  /** The file begins anew, empty; `total` is how long it will be, where that is known. */
  begin(total: number | undefined): void {
    const small = (total ?? 0) < WORTH_A_THREAD_BYTES && !this.#worker;
    this.#goingBy = small ? createHash('sha256') : undefined;
    this.#tell({ kind: 'restart' });
  }

  /** The file has got these chunks. */
  wrote(chunks: readonly Buffer[]): void {
    const bytes = this.#file.size;
    if (bytes < WORTH_A_THREAD_BYTES && !this.#worker) {
      for (const chunk of chunks) this.#goingBy?.update(chunk);
      return;
    }
    this.#goingBy = undefined;
    this.#worker ??= this.#start();
    this.#tell({ kind: 'reached', bytes });
  }

  /** The SHA-256 of all that was written by now, in hexadecimal digits. Throws `local_io`, the signal's reason. */
  async sha256(signal: AbortSignal): Promise<string> {
    if (this.#goingBy) return this.#goingBy.copy().digest('hex');
    const answer = this.#worker && !this.#failed ? await this.#ask(this.#worker, signal) : undefined;
    // Without the thread, or when it failed: read here, which also tells what is wrong with the file.
    if (!answer) return sha256OfBytes(this.#file.read(), this.#shown, signal);
    if ('sha256' in answer) return answer.sha256;
    throw new FilingsError('local_io', `${this.#shown}: ${answer.missing} bytes are gone again`, {
      hint: 'something else writes to that directory',
    });
  }

  /** Undefined when the thread fails or ends first. */
  #ask(worker: Worker, signal: AbortSignal): Promise<HashAnswer | undefined> {
    const answer = new Promise<HashAnswer | undefined>((resolve) => {
      worker.once('message', resolve);
      worker.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined));
    });
    this.#tell({ kind: 'finish', bytes: this.#file.size });
    return orAbort(answer, signal);
  }

  /** Ends the thread. Never throws. */
  async close(): Promise<void> {
    await this.#worker?.terminate().catch(() => {});
  }

  #start(): Worker {
    const worker = new Worker(this.#thread.code, { eval: this.#thread.eval, workerData: this.#file.fd });
    worker.on('error', () => {
      this.#failed = true;
    });
    return worker;
  }

  #tell(order: HashOrder): void {
    this.#worker?.postMessage(order);
  }
}
