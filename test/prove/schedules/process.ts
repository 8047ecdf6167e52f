import { closeSync } from 'node:fs';
import type { Filed } from './archive.ts';
import type { RunPlan } from './plan.ts';
import type { Scheduler } from './scheduler.ts';

/** What befalls a process at one of its steps. */
export interface Blow {
  readonly kind: 'kill' | 'interrupt' | 'full-disk' | 'bad-flush';
  readonly atStep: number;
}

/** One run of the program, which can be ended between any two of its steps as by SIGKILL. */
export class Process {
  readonly name: string;
  readonly does: RunPlan['does'];
  /** The file that a pipe takes. */
  readonly piped: Filed | undefined;
  readonly pid: number;
  readonly interrupt = new AbortController();
  /** Open file descriptors, with what they are open to. */
  readonly open = new Map<number, string>();
  readonly scheduler: Scheduler;
  dead = false;
  /** What its stdout took. */
  readonly out: Buffer[] = [];
  exitCode: number | undefined;
  interrupted = false;
  /** Writes fail, since a blow fell; how often they did. */
  diskIsFull = false;
  flushesFail = false;
  diskFailures = 0;
  /** Connections that it could not open. */
  unreached = 0;
  startedAt: number;
  /** There were checksum files when it began. */
  hadSums = false;
  endedAt: number | undefined;
  #steps = 0;
  readonly #blows: readonly Blow[];
  readonly #onEnd: (process: Process) => void;

  constructor(
    name: string,
    pid: number,
    scheduler: Scheduler,
    { does, blows, piped }: Pick<RunPlan, 'does' | 'blows'> & { readonly piped: Filed | undefined },
    onEnd: (process: Process) => void,
  ) {
    this.name = name;
    this.does = does;
    this.piped = piped;
    this.pid = pid;
    this.scheduler = scheduler;
    this.startedAt = scheduler.now;
    this.#blows = blows;
    this.#onEnd = onEnd;
  }

  get over(): boolean {
    return this.dead || this.exitCode !== undefined;
  }

  /** True when the step does not happen any more. */
  beforeStep(): boolean {
    if (this.over) return this.dead;
    this.#steps += 1;
    for (const blow of this.#blows) if (blow.atStep === this.#steps) this.#strike(blow);
    return this.dead;
  }

  #strike({ kind }: Blow): void {
    this.scheduler.note(`${this.name}: *** ${kind}`);
    if (kind === 'kill') this.die();
    if (kind === 'full-disk') this.diskIsFull = true;
    if (kind === 'bad-flush') this.flushesFail = true;
    if (kind === 'interrupt') {
      this.interrupted = true;
      this.#onInterrupt();
    }
  }

  /** Set by whoever makes its world: the reason is the program's own error. */
  #onInterrupt: () => void = () => this.interrupt.abort();

  set onInterrupt(act: () => void) {
    this.#onInterrupt = act;
  }

  /** It has ended by itself; what it has begun on the disk comes to its end. */
  end(exitCode: number): void {
    this.exitCode = exitCode;
    this.endedAt = this.scheduler.now;
    this.scheduler.note(`${this.name}: ends with ${exitCode}`);
    this.scheduler.forgetTimers(this);
    this.#onEnd(this);
  }

  /** No later operation of it ever happens; the kernel closes what it had open. */
  die(): void {
    this.dead = true;
    this.endedAt = this.scheduler.now;
    this.scheduler.forget(this);
    for (const fd of this.open.keys()) closeSync(fd);
    this.open.clear();
    this.#onEnd(this);
  }
}
