import { FilingsError } from '../errors.ts';

/** This many in a row that could not even connect: the service is not there. */
const UNREACHABLE_LIMIT = 10;

/** What a run goes over, one after the other. */
export type Things = 'files' | 'filings';

/** Tells when a run over several things is not worth going on with: the next would fail, too. */
export class StopRule {
  readonly #things: Things;
  #unreachable = 0;

  constructor(things: Things) {
    this.#things = things;
  }

  /** Takes how the next one ended, and gives what stops the run, if anything does. */
  after(error: FilingsError | undefined): FilingsError | undefined {
    this.#unreachable = error?.connected === false ? this.#unreachable + 1 : 0;
    if (error?.stopsRun) return error;
    return this.#unreachable < UNREACHABLE_LIMIT ? undefined : this.#notThere(error);
  }

  #notThere(last: FilingsError | undefined): FilingsError {
    return new FilingsError('temporary', `${UNREACHABLE_LIMIT} ${this.#things} in a row could not even connect`, {
      hint: last?.hint ?? 'run it again later',
      cause: last,
      stopsRun: true,
    });
  }
}
