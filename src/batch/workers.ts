/**
 * Downloads under way, as many as there are jobs. One whose bytes have all arrived makes room for the next while the disk
 * finishes, beside as many others as there are jobs; with one job they come one after the other.
 */
export class Workers {
  readonly #jobs: number;
  readonly #onChange: (defect?: unknown) => void;
  readonly #all = new Set<Promise<void>>();
  #running = 0;

  /** `onChange` is called when one has made room, and with what one of them throws. */
  constructor(jobs: number, onChange: (defect?: unknown) => void) {
    this.#jobs = jobs;
    this.#onChange = onChange;
  }

  /** How many more may start now. */
  get idle(): number {
    return this.#jobs - this.#running;
  }

  /** Starts one; it says when its bytes have arrived. */
  start(work: (arrived: () => void) => Promise<void>): void {
    this.#running += 1;
    let isRunning = true;
    const leave = (defect?: unknown) => {
      if (isRunning) this.#running -= 1;
      isRunning = false;
      this.#onChange(defect);
    };
    const arrived = () => {
      if (isRunning && this.#jobs > 1 && this.#all.size - this.#running < this.#jobs) leave();
    };
    const all = this.#all;
    const running: Promise<void> = work(arrived).then(() => leave(), leave);
    all.add(running);
    void running.then(() => all.delete(running));
  }

  /** All have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#all);
  }
}
