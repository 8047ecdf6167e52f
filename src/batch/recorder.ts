// Records how each item of a batch ended: on stderr, in the counts, the report, the failed list and the done list. A
// filing enters the done list only after the report lines of its files are written. Otherwise a crash in between would
// lose them for good, because later runs skip the filing.
import { type FilingsError, messageOf } from '../errors.ts';
import { noMatchError } from '../service/listing.ts';
import { printable } from '../terminal/printable.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { Counts } from './counts.ts';
import type { DoneList } from './done-list.ts';
import type { Item, NamedFile, SelectedFiling } from './item.ts';
import { describeOutcome, formatInputLine, formatReportLine } from './report.ts';
import type { ReportFile } from './report-file.ts';

interface RecorderOptions {
  readonly report: ReportFile | undefined;
  /** Where a dry run prints its files, as lines for `--input`. */
  readonly plan: ReportFile | undefined;
  readonly done: DoneList | undefined;
  readonly counts: Counts;
  readonly hasFailedList: boolean;
  readonly progress: Progress;
  /** Whether files without an error are printed as well. */
  readonly printsFiles: boolean;
  /** If the run is for a single file or filing, it ends with the error of that. */
  readonly singleTarget: 'file' | 'filing' | undefined;
  readonly world: Pick<World, 'now' | 'secrets' | 'platform'>;
  /** Called when the done list cannot be written. */
  readonly onError: (error: unknown) => void;
}

export class Recorder {
  /** Lines for `--input`. An invalid line of the input is a comment with the error. */
  failedList = '';
  /** The first error of the `singleTarget`, which is not printed here. */
  singleError: FilingsError | undefined;
  readonly #options: RecorderOptions;
  /** Filings whose files are all on disk, but which are not in the done list yet. */
  #completeFilings: SelectedFiling[] = [];
  #appendingDone: Promise<void> | undefined;
  /**
   * Files that a listing has selected although a line of the input named them earlier, so that they are duplicates.
   * Whether they are on disk is known only when the download for that line has ended, so `finish` counts them.
   */
  readonly #selectedAgain: (readonly [file: string, filing: SelectedFiling])[] = [];
  /** Files that a line of the input names, and whose download has ended without the file on disk. */
  readonly #unsaved = new Set<string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * `outcome` is undefined for a duplicate and for a filing of which no file is selected: neither is a failure.
   * `isPrintedLater` means that the error has stopped the batch, so the run ends with it and prints it then.
   */
  record(item: Item, outcome: Outcome | undefined, isPrintedLater: boolean): void {
    const { counts, hasFailedList, plan, done, world } = this.#options;
    if (outcome) {
      counts.addOutcome(outcome, 'size' in item ? item.size : 0);
      if (outcome.error && hasFailedList) this.failedList += `${this.#formatFailedLine(item)}\n`;
      // With a TAB, as `filings list` prints the lines.
      if (outcome.result === 'planned' && item.kind === 'file')
        plan?.add(formatInputLine(item.accession, item.fileName, '\t'));
      this.addReportLine((time) => formatReportLine(item, outcome, time, world));
    }
    if (item.kind === 'unmatched') counts.unmatched += 1;
    if (countDownFiling(item)) counts.endedFilings += 1;
    this.#print(item, outcome, isPrintedLater);
    if (done && 'fileName' in item) this.#updateFiling(item, outcome);
  }

  /** Whether the run should call `flush` before it goes on. */
  get hasBacklog(): boolean {
    return this.#options.report?.isFull === true || this.#options.plan?.isFull === true;
  }

  /** After a failed write, this and every later call throws its error. */
  async flush(): Promise<void> {
    await this.#options.report?.flush();
    await this.#options.plan?.flush();
  }

  /** Call this when all files have ended. Throws the errors of `flush`. */
  async finish(): Promise<void> {
    await this.#appendingDone;
    // This may complete filings, so there may be another append to wait for.
    for (const [file, filing] of this.#selectedAgain) if (!this.#unsaved.has(file)) this.#countFileOnDisk(filing);
    await this.#appendingDone;
    await this.flush();
  }

  async close(): Promise<void> {
    const { report, plan, done } = this.#options;
    await this.flush().finally(() => Promise.all([report?.close(), plan?.close(), done?.close()]));
  }

  #print(item: Item, outcome: Outcome | undefined, isPrintedLater: boolean): void {
    const { singleTarget, printsFiles, progress } = this.#options;
    const unmatched = item.kind === 'unmatched' ? noMatchError(item.accession, item.listedCount) : undefined;
    const error = unmatched ?? outcome?.error;
    // A run for a single filing ends with an error if its listing fails or none of its files is selected. The errors of
    // its files are printed one by one.
    const isSingle = singleTarget === 'file' || (singleTarget === 'filing' && !('fileName' in item));
    if (error && isSingle) this.singleError ??= error;
    // In a run over several filings, one without a matching file is not a failure.
    else if (unmatched) progress.note(messageOf(unmatched));
    else if (error && !isPrintedLater) progress.reportFailure(error);
    else if (outcome && item.kind === 'file' && printsFiles) progress.note(describeOutcome(item.fileName, outcome));
  }

  /** An invalid line may quote a secret, so its message is redacted. */
  #formatFailedLine(item: Item): string {
    if (item.kind === 'invalid')
      return `# ${printable(this.#options.world.secrets.redactMarked(messageOf(item.error)))}`;
    return formatInputLine(item.accession, 'fileName' in item ? item.fileName : undefined);
  }

  addReportLine(format: (time: string) => string): void {
    this.#options.report?.add(format(new Date(this.#options.world.now()).toISOString()));
  }

  /**
   * Keeps count of the missing files of a filing, for the done list. There are three cases:
   *
   * 1. A file selected from a listing is on disk: its filing has one missing file less.
   * 2. A file selected from a listing is a duplicate, because a line of the input named it before: `finish` decides.
   * 3. A file that a line of the input names (`filing` is undefined) is not on disk: `finish` must not count it.
   */
  #updateFiling({ accession, fileName, filing, kind }: NamedFile & { kind: string }, outcome?: Outcome): void {
    const isOnDisk = outcome !== undefined && RESULTS_ON_DISK.has(outcome.result);
    if (filing && isOnDisk) this.#countFileOnDisk(filing);
    else if (filing && kind === 'duplicate') this.#selectedAgain.push([`${accession}/${fileName}`, filing]);
    else if (!filing && !isOnDisk && kind !== 'duplicate') this.#unsaved.add(`${accession}/${fileName}`);
  }

  /** Counts a file of a filing that is on disk. Filings that become complete during an append are appended together. */
  #countFileOnDisk(filing: SelectedFiling): void {
    filing.missingCount -= 1;
    if (filing.missingCount > 0) return;
    this.#completeFilings.push(filing);
    // If an append fails, `#appendingDone` stays set, so that this run appends nothing more to the done list.
    this.#appendingDone ??= this.#appendDoneLines().catch(this.#options.onError);
  }

  async #appendDoneLines(): Promise<void> {
    while (this.#completeFilings.length > 0) {
      const filings = this.#completeFilings;
      this.#completeFilings = [];
      await this.flush();
      await this.#options.done?.add(filings);
    }
    this.#appendingDone = undefined;
  }
}

/** Returns whether nothing of the filing is left to do. */
function countDownFiling(item: Item): boolean {
  if (!('filing' in item)) return item.kind === 'unmatched' || item.kind === 'unlisted';
  return item.filing !== undefined && --item.filing.openCount === 0;
}

const RESULTS_ON_DISK: ReadonlySet<Outcome['result']> = new Set(['downloaded', 'resumed', 'skipped']);
