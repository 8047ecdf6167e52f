import { AsyncLocalStorage } from 'node:async_hooks';
import type { Process } from './process.ts';

/** Whose code runs: a process of the schedule, or nobody's, as the service. */
export const current = new AsyncLocalStorage<Process | undefined>();

/** Something that can happen next. */
interface Step {
  readonly process: Process | undefined;
  readonly what: () => string;
  readonly happen: () => void;
}

export interface Timer {
  at: number;
  readonly ms: number;
  process: Process | undefined;
  readonly everyMs: number | undefined;
  readonly fire: () => void;
  /** It has been called off, perhaps when it was due and had not had its turn. */
  isOff: boolean;
}

export interface Scheduled {
  readonly chance: () => number;
  /** How the next step is chosen of those that can happen: 1 is any, less than 1 rather a late one, more an early one. */
  readonly lean: number;
  readonly log: ((line: string) => void) | undefined;
}

/** A schedule that goes on for longer than this does not end. */
const MOST_STEPS = 60_000;
const nextTurn = setImmediate;

/**
 * What happens, and in which order: steps of the network and the disk are chosen by the seed, one at a time, and time passes only
 * when nothing else can happen.
 */
export class Scheduler {
  /** Milliseconds since the schedule began. */
  now = 0;
  steps = 0;
  /** How far the machine's own clock is ahead of this one. */
  aheadMs = 0;
  /** Immediates that were asked for and have not had their turn. */
  turns = 0;
  readonly #how: Scheduled;
  #ready: Step[] = [];
  #timers = new Set<Timer>();

  constructor(how: Scheduled) {
    this.#how = how;
  }

  note(line: string): void {
    this.#how.log?.(`${String(this.now).padStart(7)} ${line}`);
  }

  /** Has something happen when its turn comes, in the name of the process that asks. */
  do<T>(what: () => string, act: () => T, process = current.getStore()): Promise<T> {
    return new Promise((resolve, reject) => {
      const happen = () => {
        try {
          resolve(act());
        } catch (error) {
          reject(error);
        }
      };
      if (!process?.dead) this.#ready.push({ process, what, happen });
    });
  }

  start(ms: number, fire: () => void, everyMs?: number): Timer {
    const timer = { at: this.now + Math.max(1, ms || 1), ms, process: current.getStore(), everyMs, fire, isOff: false };
    if (!timer.process?.dead) this.#timers.add(timer);
    return timer;
  }

  /** Has a timer begin anew. */
  restart(timer: Timer): void {
    timer.at = this.now + Math.max(1, timer.ms || 1);
    timer.process = current.getStore();
    timer.isOff = false;
    this.#timers.add(timer);
  }

  stop(timer: Timer): void {
    timer.isOff = true;
    this.#timers.delete(timer);
  }

  /** Waits, without a process. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void (ms > 0 ? this.start(ms, resolve) : resolve()));
  }

  /** Nothing of this process happens any more. */
  forget(process: Process): void {
    this.#ready = this.#ready.filter((step) => step.process !== process);
    this.forgetTimers(process);
  }

  forgetTimers(process: Process): void {
    for (const timer of this.#timers) if (timer.process === process) this.#timers.delete(timer);
  }

  /** Goes on until `over`, or throws when that never comes. */
  async play(over: () => boolean): Promise<void> {
    for (;;) {
      await this.#quiet();
      if (over() && this.#ready.length === 0) return;
      const step = this.#choose();
      if (step) this.#take(step);
      else if (!this.#wait()) throw new Error('nothing can happen any more, and not all has ended');
    }
  }

  #take(step: Step): void {
    this.steps += 1;
    if (this.steps > MOST_STEPS) throw new Error(`no end after ${MOST_STEPS} steps`);
    const { process } = step;
    if (this.#how.log) this.note(`${process?.name ?? 'service'}: ${step.what()}`);
    if (process?.beforeStep()) return;
    current.run(process, step.happen);
  }

  #choose(): Step | undefined {
    const { chance, lean } = this.#how;
    const [step] = this.#ready.splice(Math.floor(chance() ** lean * this.#ready.length), 1);
    return step;
  }

  /** Lets time pass up to the next timer, and makes ready what is due then. */
  #wait(): boolean {
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    if (next === Number.POSITIVE_INFINITY) return false;
    this.now = Math.max(this.now, next);
    for (const timer of this.#timers) {
      if (timer.at > this.now) continue;
      if (timer.everyMs === undefined) this.#timers.delete(timer);
      else timer.at += timer.everyMs;
      const happen = () => void (timer.isOff || timer.fire());
      this.#ready.push({ process: timer.process, what: () => `after ${timer.ms} ms`, happen });
    }
    return true;
  }

  /** Until no code runs that could ask for more. */
  async #quiet(): Promise<void> {
    for (let still = 0; still < 2; ) {
      await new Promise<void>((resolve) => nextTurn(resolve));
      still = this.turns === 0 ? still + 1 : 0;
    }
  }
}
