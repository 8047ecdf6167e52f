import { Worker } from 'node:worker_threads';
import { FilingsError } from '../../errors.ts';
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
 * Hashes a file while it is being written, beside the main thread: a second thread
 * reads what has been written, so the hash is of what stands on disk, also of what an
 * earlier run wrote. Both read the open file: what happens to its name is no matter.
 */
export class FollowingHash {
  readonly #file: GatheredFile;
  readonly #shown: string;
  readonly #workerFile: string;
  #worker: Worker | undefined;
  #failed = false;

  /** `shown` is the path for people, `workerFile` the built `hash-worker.js`. To be closed before the file is. */
  constructor(file: GatheredFile, shown: string, workerFile: string) {
    this.#file = file;
    this.#shown = shown;
    this.#workerFile = workerFile;
  }

  /** The file has so many bytes by now. */
  reached(bytes: number): void {
    if (!this.#worker && bytes < WORTH_A_THREAD_BYTES) return;
    this.#worker ??= this.#start();
    this.#tell({ kind: 'reached', bytes });
  }

  /** The file begins anew, empty. */
  restart(): void {
    this.#tell({ kind: 'restart' });
  }

  /** The SHA-256 of the file, which has `bytes` bytes, in hexadecimal digits. Throws `local_io`, the signal's reason. */
  async finish(bytes: number, signal: AbortSignal): Promise<string> {
    const answer = this.#worker && !this.#failed ? await this.#ask(this.#worker, bytes, signal) : undefined;
    // Without the thread, or when it failed: read here, which also tells what is wrong with the file.
    if (!answer) return sha256OfBytes(this.#file.read(), this.#shown, signal);
    if ('sha256' in answer) return answer.sha256;
    throw new FilingsError('local_io', `${this.#shown}: ${answer.missing} bytes are gone again`, {
      hint: 'something else writes to that directory',
    });
  }

  /** Undefined when the thread fails or ends first. */
  async #ask(worker: Worker, bytes: number, signal: AbortSignal): Promise<HashAnswer | undefined> {
    let onAbort = () => {};
    try {
      return await new Promise<HashAnswer | undefined>((resolve, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        worker.once('message', resolve);
        worker.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined));
        this.#tell({ kind: 'finish', bytes });
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#workerFile, { workerData: this.#file.fd });
    worker.on('error', () => {
      this.#failed = true;
    });
    return worker;
  }

  #tell(order: HashOrder): void {
    this.#worker?.postMessage(order);
  }
}
