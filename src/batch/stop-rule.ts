import { FilingsError } from '../errors.ts';

/** This many in a row that could not even connect: the service is not there. */
const UNREACHABLE_LIMIT = 10;
/** This many 403 in a row: not about one file any more. */
const FORBIDDEN_LIMIT = 20;

/** What a run goes over, one after the other. */
export type Things = 'files' | 'filings';

/** Tells when a run over several things is not worth going on with: the next would fail, too. */
export class StopRule {
  readonly #things: Things;
  #unreachable = 0;
  #forbidden = 0;

  readonly #again: (command: string) => string;

  /** `again` words a command of this program so that it asks the same service. */
  constructor(things: Things, again: (command: string) => string = (command) => command) {
    this.#things = things;
    this.#again = again;
  }

  /** Takes how the next one ended, and gives what stops the run, if anything does. */
  after(error: FilingsError | undefined): FilingsError | undefined {
    this.#unreachable = error?.connected === false ? this.#unreachable + 1 : 0;
    this.#forbidden = error?.problem?.status === 403 ? this.#forbidden + 1 : 0;
    if (error?.stopsRun) return error;
    if (this.#forbidden >= FORBIDDEN_LIMIT) return this.#notAllowed(error);
    return this.#unreachable < UNREACHABLE_LIMIT ? undefined : this.#notThere(error);
  }

  #notAllowed(last: FilingsError | undefined): FilingsError {
    return new FilingsError('auth', `403 for ${FORBIDDEN_LIMIT} ${this.#things} in a row`, {
      hint: `some services say "slow down" so: wait, then run it again with --rate 1/s; or the key is not allowed this: ${this.#again('filings config check')}`,
      cause: last,
      stopsRun: true,
    });
  }

  #notThere(last: FilingsError | undefined): FilingsError {
    return new FilingsError('temporary', `${UNREACHABLE_LIMIT} ${this.#things} in a row could not even connect`, {
      hint: last?.hint ?? 'run it again later',
      cause: last,
      stopsRun: true,
    });
  }
}
