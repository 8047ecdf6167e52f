import { EventEmitter } from 'node:events';
import { acting, stage } from '../stage.ts';

// node:worker_threads for a process of a schedule: the code of the thread that hashes is loaded here once, and does each order in one
// step of the process that gave it.
let answering: ((message: unknown) => void) | undefined;

class Port extends EventEmitter {
  postMessage = (message: unknown) => answering?.(message);
}

/** What the thread's code listens to. */
export const parentPort = new Port();
export const workerData = undefined;

export class Worker extends EventEmitter {
  /** Done in their order, as a thread does. */
  readonly #orders: unknown[] = [];

  postMessage(order: unknown): void {
    this.#orders.push(order);
    const work = () => {
      answering = (message) => this.emit('message', message);
      parentPort.emit('message', this.#orders.shift());
    };
    void stage().scheduler.do(() => 'a thread hashes', work, acting());
  }

  async terminate(): Promise<void> {}
}
