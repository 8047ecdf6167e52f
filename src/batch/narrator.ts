import { type ErrorCode, FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress.ts';
import { type Outcome, outcomeLine } from '../transfer/outcome.ts';
import type { Item } from './item.ts';

export interface NarratorOptions {
  /** Whether files that are skipped are told one by one. */
  readonly tellsAll: boolean;
  /** A run of one file, or of one filing, ends with that error itself. */
  readonly alone: 'file' | 'filing' | undefined;
}

/** Says on stderr how the items of a batch have ended, but for what the command itself ends with. */
export class Narrator {
  readonly #progress: Progress;
  readonly #options: NarratorOptions;
  #stoppedFor: ErrorCode | undefined;
  /**
   * Failures that may turn out to have one cause: files in a row that could not even connect, or that were answered with
   * 403. When that stops the batch it is told once, at its end.
   */
  #held: FilingsError[] = [];
  #kind: string | undefined;
  /** The error of the one file, or of the one filing's listing. */
  alone: FilingsError | undefined;

  constructor(progress: Progress, options: NarratorOptions) {
    this.#progress = progress;
    this.#options = options;
  }

  /** An item has ended; a file that was downloaded has told so itself. */
  ended(item: Item, outcome: Outcome | undefined): void {
    const error = outcome?.error ?? errorOf(item);
    if (this.#isAlone(item)) this.alone ??= error;
    else if (item.kind === 'unmatched') this.#progress.note(`${item.accession}: ${noMatch(item.files)}`);
    else if (error) this.#failed(error);
    else if (outcome && outcome.attempts > 0) this.#next(undefined);
    if (outcome && !error && outcome.attempts === 0) this.#looked(outcome);
  }

  /** The run has ended: what stopped it for being held back so often is told with that, anything else after all. */
  end(stoppedBy: FilingsError | undefined): void {
    if (!this.#held.some((error) => error === stoppedBy?.cause)) this.#next(undefined);
  }

  #isAlone({ kind }: Item): boolean {
    const { alone } = this.#options;
    return alone === 'file' || (alone === 'filing' && (kind === 'unlisted' || kind === 'unmatched'));
  }

  #looked(outcome: Outcome): void {
    const isTold = outcome.result === 'planned' || (outcome.result === 'skipped' && this.#options.tellsAll);
    if (isTold) this.#progress.note(outcomeLine(outcome));
  }

  /** What stops the batch is said once, at its end, also for the files beside it that failed the same way. */
  #failed(error: FilingsError): void {
    if (error.stopsRun) this.#stoppedFor ??= error.code;
    if (!error.stopsRun || error.code !== this.#stoppedFor) this.#next(error);
  }

  #next(error: FilingsError | undefined): void {
    const kind = error && kindOf(error);
    if (kind === undefined || kind !== this.#kind) {
      for (const held of this.#held.splice(0)) this.#progress.failure(held);
    }
    this.#kind = kind;
    if (kind !== undefined) this.#held.push(error as FilingsError);
    else if (error) this.#progress.failure(error);
  }
}

function kindOf({ connected, problem }: FilingsError): string | undefined {
  if (!connected) return 'unreachable';
  return problem?.status === 403 ? 'forbidden' : undefined;
}

/** What an item that is no file has failed with; a line of the input is told with its number. */
function errorOf(item: Item): FilingsError | undefined {
  if (item.kind === 'unmatched') {
    const message = `${item.accession}: ${noMatch(item.files)}`;
    return new FilingsError('not_found', message, { hint: 'see what there is with filings list' });
  }
  if (item.kind !== 'bad' || item.number === undefined) return 'error' in item ? item.error : undefined;
  return item.error.reworded(`line ${item.number}: ${item.error.message}`);
}

/** Why nothing of a filing is chosen whose listing has so many files. */
function noMatch(files: number): string {
  const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return `${none} --include and --exclude (matching is case-sensitive)`;
}
