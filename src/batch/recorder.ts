// Records how each item of a batch ended: on stderr, in the counts, the report, the failed list and the done list.
// Report lines are appended a few at a time. A filing enters the done list only after the report lines of its files.
import { type FilingsError, messageOf } from '../errors.ts';
import { noMatchError } from '../input/glob.ts';
import { printable } from '../terminal/printable.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { DoneList } from './done-list.ts';
import type { ChosenFiling, Item, NamedFile } from './item.ts';
import { type Counts, inputLine, outcomeLine, reportLine } from './report.ts';
import type { ReportFile } from './report-file.ts';

interface RecorderOptions {
  readonly report: ReportFile | undefined;
  /** Where a dry run prints the files, as lines for `--input`. */
  readonly plan: ReportFile | undefined;
  readonly done: DoneList | undefined;
  readonly counts: Counts;
  readonly hasFailedList: boolean;
  /** Resolves when the checksums of all ended files are on disk. */
  readonly beforeDone: () => Promise<void>;
  readonly progress: Progress;
  /** Whether a line is printed for each file. */
  readonly printsFiles: boolean;
  /** The run is about a single file or filing. It ends with that file's or filing's error. */
  readonly singleTarget: 'file' | 'filing' | undefined;
  readonly world: Pick<World, 'now' | 'secrets' | 'platform'>;
}

/** The records of one run. */
export class Recorder {
  /** Lines for `--input`, to retry what failed. Invalid lines of the input are comments. */
  failedList = '';
  /** The error of the single file or filing. */
  singleError: FilingsError | undefined;
  /** Called when the report or the done list cannot be written. */
  onError: (error: unknown) => void = () => {};
  readonly #options: RecorderOptions;
  /** Complete filings without a done line yet. */
  #complete: ChosenFiling[] = [];
  #appendingDone: Promise<void> | undefined;
  /** Chosen files that a line of the input names, too. Its filing is complete only if that file exists at the end. */
  readonly #namedTwice: (readonly [key: string, filing: ChosenFiling])[] = [];
  /** The files among those named by lines that do not exist after the run. */
  readonly #notThere = new Set<string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
    for (const file of [options.report, options.plan]) if (file) file.onError = (error) => this.onError(error);
  }

  /**
   * Records the end of an item. `isPrintedLater`: the error is printed as the run's error, so it is not printed here.
   */
  record(item: Item, outcome: Outcome | undefined, isPrintedLater = false): void {
    const { counts, hasFailedList, plan, done, world } = this.#options;
    if (outcome) {
      counts.add(outcome);
      if ('size' in item) counts.endedBytes += item.size ?? outcome.bytes;
      if (outcome.error && hasFailedList) this.failedList += `${this.#failedLine(item)}\n`;
      if (outcome.result === 'planned' && item.kind === 'file')
        plan?.add(inputLine(item.accession, item.fileName, '\t'));
      this.write((time) => reportLine(item, outcome, time, world));
    }
    if (item.kind === 'unmatched') counts.unmatched += 1;
    this.#print(item, outcome, isPrintedLater);
    if (done && 'fileName' in item) this.#countExisting(item, outcome);
  }

  /** Whether the run should wait for its report. */
  get hasBacklog(): boolean {
    return this.#options.report?.isFull === true || this.#options.plan?.isFull === true;
  }

  /** Writes the waiting lines. Throws `local_io`, also at each later call. */
  async flush(): Promise<void> {
    await this.#options.report?.flush();
    await this.#options.plan?.flush();
  }

  /** Completes the done list and the report. Throws the same errors as `flush`. */
  async finish(): Promise<void> {
    await this.#appendingDone;
    for (const [key, filing] of this.#namedTwice) if (!this.#notThere.has(key)) this.#countFile(filing);
    await this.#appendingDone;
    await this.flush();
  }

  /** Writes the waiting lines and closes the report and the done list. Throws the same errors as `flush`. */
  async close(): Promise<void> {
    const { report, plan, done } = this.#options;
    await this.flush().finally(() => Promise.all([report?.close(), plan?.close(), done?.close()]));
  }

  #print(item: Item, outcome: Outcome | undefined, isPrintedLater: boolean): void {
    const { singleTarget, printsFiles, progress } = this.#options;
    const unmatched = item.kind === 'unmatched' ? noMatchError(item.accession, item.files) : undefined;
    const error = unmatched ?? outcome?.error;
    const isSingle = singleTarget === 'file' || (singleTarget === 'filing' && !('fileName' in item));
    if (error && isSingle) this.singleError ??= error;
    else if (unmatched) progress.note(messageOf(unmatched));
    else if (error && !isPrintedLater) progress.failure(error);
    else if (outcome && item.kind === 'file' && printsFiles) progress.note(outcomeLine(item.fileName, outcome));
  }

  #failedLine(item: Item): string {
    if (item.kind === 'bad') return `# ${printable(this.#options.world.secrets.redactForeign(messageOf(item.error)))}`;
    return inputLine(item.accession, 'fileName' in item ? item.fileName : undefined);
  }

  /** Adds a line to the report, if there is one. `line` gets the current time. */
  write(line: (time: string) => string): void {
    this.#options.report?.add(line(new Date(this.#options.world.now()).toISOString()));
  }

  #countExisting({ accession, fileName, filing, kind }: NamedFile & { kind: string }, outcome?: Outcome): void {
    const exists = outcome !== undefined && EXISTING_RESULTS.has(outcome.result);
    if (filing && exists) this.#countFile(filing);
    else if (filing && kind === 'duplicate') this.#namedTwice.push([`${accession}/${fileName}`, filing]);
    else if (!filing && !exists && kind !== 'duplicate') this.#notThere.add(`${accession}/${fileName}`);
  }

  /** Filings that become complete during an append are added together by the next one. */
  #countFile(filing: ChosenFiling): void {
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
}

/** Results after which the file exists on disk. */
const EXISTING_RESULTS: ReadonlySet<Outcome['result']> = new Set(['downloaded', 'resumed', 'skipped']);
