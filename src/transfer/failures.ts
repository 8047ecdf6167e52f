import { type ErrorCode, FilingsError } from '../errors.ts';

/** This many filings in a row that could not even connect: the service is not there. */
const UNREACHABLE_LIMIT = 10;
/** What fails one fails all the rest. */
const ENDING: readonly ErrorCode[] = ['local_io', 'interrupted', 'internal', 'config'];

/** The failures of a run over several filings, each told as it comes. */
export class Failures {
  readonly #tell: (error: FilingsError) => void;
  #count = 0;
  #unreachable = 0;
  #onlyTemporary = true;

  constructor(tell: (error: FilingsError) => void) {
    this.#tell = tell;
  }

  /** A filing could be listed. */
  none(): void {
    this.#unreachable = 0;
  }

  /** Throws what ends the run: what would fail all the rest. */
  take(error: FilingsError): void {
    if (ENDING.includes(error.code) || (error.stopsRun && (this.#onlyTemporary || error.code !== 'temporary')))
      throw error;
    this.#tell(error);
    this.#count += 1;
    this.#onlyTemporary &&= error.code === 'temporary';
    this.#unreachable = error.connected ? 0 : this.#unreachable + 1;
    if (error.stopsRun || this.#unreachable >= UNREACHABLE_LIMIT) this.conclude(' before it was stopped');
  }

  /** Throws when there were any (interface page, "A batch of several files"). */
  conclude(when = ''): void {
    if (this.#count === 0) return;
    const message = `${this.#count} of the filings could not be listed${when}`;
    throw new FilingsError(this.#onlyTemporary ? 'temporary' : 'partial', message, { hint: 'see the errors above' });
  }
}
