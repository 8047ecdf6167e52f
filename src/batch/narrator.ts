import type { ErrorCode, FilingsError } from '../errors.ts';
import type { Progress } from '../terminal/progress/progress.ts';
import type { Outcome } from '../transfer/outcome.ts';
import { outcomeLine } from '../transfer/outcome-line.ts';
import { HeldFailures } from './held-failures.ts';
import type { Item } from './item.ts';

/** Says on stderr how the things of a batch have ended. */
export class Narrator {
  readonly #progress: Progress;
  readonly #tellsAll: boolean;
  readonly #failures: HeldFailures;
  #stoppedFor: ErrorCode | undefined;

  /** `tellsAll`: also of files that are skipped. */
  constructor(progress: Progress, tellsAll: boolean) {
    this.#progress = progress;
    this.#tellsAll = tellsAll;
    this.#failures = new HeldFailures((error) => progress.failure(error));
  }

  /** A thing has ended; a file that was downloaded has told so itself. */
  ended(item: Item, outcome: Outcome | undefined): void {
    if (item.kind === 'unmatched') this.#progress.note(`${item.accession}: ${noMatch(item.files)}`);
    const error = outcome?.error ?? ('error' in item ? item.error : undefined);
    if (outcome && !error && outcome.attempts === 0) this.#looked(outcome);
    if (!error && !outcome?.attempts) return;
    // What stops the batch is said once, at its end, also for the files beside it that failed the same way.
    if (error?.stopsRun) this.#stoppedFor ??= error.code;
    if (error?.stopsRun && error.code === this.#stoppedFor) return;
    this.#failures.next(error && atLine(item, error));
  }

  /** The batch has ended. */
  end(stoppedBy: FilingsError | undefined): void {
    this.#failures.end(stoppedBy);
  }

  #looked(outcome: Outcome): void {
    const isTold = outcome.result === 'planned' || (outcome.result === 'skipped' && this.#tellsAll);
    if (isTold) this.#progress.note(outcomeLine(outcome));
  }
}

/** Why nothing of a filing is chosen whose listing has so many files. */
export function noMatch(files: number): string {
  const none = files === 1 ? 'its one file does not match' : `none of its ${files} files matches`;
  return `${none} --include and --exclude (matching is case-sensitive)`;
}

function atLine(item: Item, error: FilingsError): FilingsError {
  const number = item.kind === 'bad' ? item.number : undefined;
  return number === undefined ? error : error.reworded(`line ${number}: ${error.message}`);
}
