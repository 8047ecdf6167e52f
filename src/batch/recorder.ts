// Records how each item of a batch ended: on stderr, in the counts, the report, the failed list and the done list.
// Report lines are appended a few at a time. A filing enters the done list only after the report lines of its files.
import { createAbortController } from '../abort.ts';
import type { FilingsError } from '../errors.ts';
import { noMatchError } from '../input/glob.ts';
import { LargeMap } from '../large-map.ts';
import { errorObject, type HintOf } from '../terminal/messages.ts';
import { printable } from '../terminal/printable.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { DoneList } from './done-list.ts';
import type { ChosenFiling, Item } from './item.ts';
import { outcomeLine } from './outcome-line.ts';
import { Counts, failedLine, type LineOptions, reportLine } from './report.ts';
import type { Report } from './report-file.ts';

/** Time from a file's end to its line in the report, in milliseconds. */
const MAX_APPEND_DELAY_MS = 100;
/** Number of characters that may wait for the report before the run waits, too. */
const MAX_BACKLOG = 1 << 16;

interface RecorderOptions {
  readonly report: Report | undefined;
  readonly done: DoneList | undefined;
  readonly hasFailedList: boolean;
  /** Resolves when the checksums of all ended files are on disk. */
  readonly beforeDone: () => Promise<void>;
  readonly progress: Progress;
  readonly shouldPrintSkipped: boolean;
  /** The run is about a single file or filing. It ends with the error of that one. */
  readonly singleTarget: 'file' | 'filing' | undefined;
  readonly hintOf: HintOf;
  readonly world: Pick<World, 'now' | 'sleep' | 'secrets' | 'platform'>;
}

/** The records of one run. */
export class Recorder {
  readonly counts = new Counts();
  /** Lines for `--input`, to retry what failed. Invalid lines of the input are comments. */
  failedList = '';
  /** The error of the single file or filing. */
  singleError: FilingsError | undefined;
  /** Called when the report or the done list cannot be written. */
  onError: (error: unknown) => void = () => {};
  readonly #options: RecorderOptions;
  readonly #lineOptions: LineOptions;
  #lines = '';
  #writing: Promise<void> = Promise.resolve();
  #hasTimer = false;
  readonly #timers = createAbortController();
  /** Keys of failed files that lines name. */
  readonly #failedNames = new LargeMap<string, true>();
  /** Files of listings that a line names, too. The result of the line's file counts for the filing. */
  readonly #repeated: (readonly [key: string, filing: ChosenFiling])[] = [];
  /** Complete filings without a done line yet. */
  #complete: ChosenFiling[] = [];
  #appendingDone: Promise<void> | undefined;
  #time = { ms: 0, text: '' };

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { secrets, platform } = options.world;
    const errorOptions = { secrets, hintOf: options.hintOf };
    this.#lineOptions = { platform, errorOf: (error) => errorObject(error, errorOptions) };
  }

  /**
   * Records the end of an item. `isPrintedLater`: the error is printed as the run's error, so it is not printed here.
   */
  record(item: Item, outcome: Outcome | undefined = failureOf(item), isPrintedLater = false): void {
    if (outcome) {
      this.counts.add(outcome);
      if ('size' in item) this.counts.addEnded(item.size, outcome);
      if (outcome.error && this.#options.hasFailedList) this.failedList += `${this.#failedLine(item)}\n`;
      this.write((time) => reportLine(item, outcome, time, this.#lineOptions));
    }
    if (item.kind === 'unmatched') this.counts.unmatched += 1;
    this.#print(item, outcome, isPrintedLater);
    if (this.#options.done) this.#updateFiling(item, outcome !== undefined && EXISTING_RESULTS.has(outcome.result));
  }

  /** Whether the run should wait for its report. */
  get hasBacklog(): boolean {
    return this.#lines.length > MAX_BACKLOG;
  }

  /** Writes the waiting lines. Throws `local_io`. After one failed write every call rejects with that error. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#writing = this.#writing.then(() => this.#options.report?.write(lines));
    return this.#writing;
  }

  /** Completes the done list and the report. `isAll`: the run was not stopped. Throws the same errors as `flush`. */
  async finish(isAll: boolean): Promise<void> {
    for (const [key, filing] of isAll ? this.#repeated : []) {
      if (!this.#failedNames.has(key)) this.#countExisting(filing);
    }
    await this.#appendingDone;
    await this.flush();
  }

  /** Writes the waiting lines and closes the report and the done list. Throws the same errors as `flush`. */
  async close(): Promise<void> {
    const { report, done } = this.#options;
    this.#timers.abort();
    await this.flush().finally(() => Promise.all([report?.close(), done?.close()]));
  }

  /** Prints nothing for a downloaded file, because a line has already replaced its bar. */
  #print(item: Item, outcome: Outcome | undefined, isPrintedLater: boolean): void {
    const { singleTarget, shouldPrintSkipped, progress } = this.#options;
    const unmatched = item.kind === 'unmatched' ? noMatchError(item.accession, item.files) : undefined;
    const error = unmatched ?? outcome?.error;
    const isSingle = singleTarget === 'file' || (singleTarget === 'filing' && !('fileName' in item));
    if (error && isSingle) this.singleError ??= error;
    else if (unmatched) progress.note(unmatched.message);
    else if (error && !isPrintedLater) progress.failure(error);
    else if (item.kind !== 'file') return;
    else if (outcome?.result === 'planned' || (outcome?.result === 'skipped' && shouldPrintSkipped)) {
      progress.note(outcomeLine(item.fileName, outcome));
    }
  }

  #failedLine(item: Item): string {
    if (item.kind === 'bad') return `# ${printable(this.#options.world.secrets.redact(item.error.message))}`;
    return failedLine(item.accession, 'fileName' in item ? item.fileName : undefined);
  }

  /** Adds a line to the report, if there is one. `line` gets the current time. */
  write(line: (time: string) => string): void {
    if (!this.#options.report) return;
    this.#lines += `${line(this.#now())}\n`;
    if (this.#hasTimer) return;
    this.#hasTimer = true;
    const timer = this.#options.world.sleep(MAX_APPEND_DELAY_MS, this.#timers.signal).then(() => {
      this.#hasTimer = false;
      return this.flush();
    });
    timer.catch((error) => this.#timers.signal.aborted || this.onError(error));
  }

  /** A filing is complete with its last file. If a line also names one of its files, `finish` decides. */
  #updateFiling(item: Item, exists: boolean): void {
    if (!('fileName' in item)) return;
    const { accession, fileName, filing, kind } = item;
    if (filing && kind !== 'duplicate') {
      if (exists) this.#countExisting(filing);
    } else if (filing) this.#repeated.push([fileKey(accession, fileName), filing]);
    else if (kind !== 'duplicate' && !exists) this.#failedNames.set(fileKey(accession, fileName), true);
  }

  /** Filings that become complete during an append are added together by the next one. */
  #countExisting(filing: ChosenFiling): void {
    filing.missing -= 1;
    if (filing.missing > 0) return;
    this.#complete.push(filing);
    this.#appendingDone ??= this.#appendDoneLines().catch((error) => this.onError(error));
  }

  async #appendDoneLines(): Promise<void> {
    while (this.#complete.length > 0) {
      const filings = this.#complete;
      this.#complete = [];
      await this.flush();
      await this.#options.beforeDone();
      await this.#options.done?.add(filings);
    }
    this.#appendingDone = undefined;
  }

  #now(): string {
    const ms = this.#options.world.now();
    if (ms !== this.#time.ms) this.#time = { ms, text: new Date(ms).toISOString() };
    return this.#time.text;
  }
}

/** Results after which the file exists on disk. */
const EXISTING_RESULTS: ReadonlySet<Outcome['result']> = new Set(['downloaded', 'resumed', 'skipped']);

function failureOf(item: Item): Outcome | undefined {
  const nothing = { path: null, bytes: 0, resumedBytes: 0, verifiedLength: false, attempts: 0, ms: 0 };
  return 'error' in item ? { ...nothing, result: 'failed', error: item.error } : undefined;
}

/** Joined, because a flat text takes half the memory of a concatenated one. */
function fileKey(accession: string, name: string): string {
  return [accession, name].join(' ');
}
