import type { Sleep } from '../abort.ts';
import type { FilingsError } from '../errors.ts';
import type { Report } from '../stdio/report-file.ts';
import { printable } from '../terminal/printable.ts';
import type { Outcome } from '../transfer/outcome.ts';
import { Counts } from './counts.ts';
import { CompleteFilings, type DoneList } from './done-list.ts';
import type { ChosenFiling, FileItem, Item } from './item.ts';
import { type ErrorOf, failedLine, failureLine, reportLine } from './report-line.ts';

/** A line stands in the report at the latest so long after its file has ended. */
const APPENDED_WITHIN_MS = 100;
/** So many characters wait at most before the run waits for its report. */
const MOST_WAITING = 1 << 16;

/** The files that a run writes beside what it downloads. */
export interface Outputs {
  readonly report: Report | undefined;
  /** Whether what failed is listed. */
  readonly failed: boolean;
  readonly done: DoneList | undefined;
}

export interface RecorderOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** Free of secrets, as are `redact`'s texts. */
  readonly errorOf: ErrorOf;
  readonly redact: (text: string) => string;
  /** Resolves when the checksums of what has ended are on disk. Throws `local_io`. */
  readonly beforeDone: () => Promise<void>;
}

/**
 * Records how each thing of a run has ended: counts, report, failed list, done list. Report lines are appended a few at a
 * time; a filing is in the done list only after its files' lines.
 */
export class Recorder {
  readonly counts = new Counts();
  /** What failed, as lines that `--input` takes; lines of the input that can't be used are comments. */
  failed = '';
  readonly #outputs: Outputs;
  readonly #options: RecorderOptions;
  readonly #filings: CompleteFilings | undefined;
  #lines = '';
  #writing: Promise<void> = Promise.resolve();
  #isTimed = false;
  readonly #noMoreTimers = new AbortController();
  #complete: ChosenFiling[] = [];
  #remembering: Promise<void> | undefined;
  #time = { at: 0, text: '' };
  /** Called with what a report or done list that takes no more throws. */
  onError: (error: unknown) => void = () => {};

  constructor(outputs: Outputs, options: RecorderOptions) {
    this.#outputs = outputs;
    this.#options = options;
    if (outputs.done) this.#filings = new CompleteFilings();
  }

  /** To be told of each file as it is handed out. */
  taken(file: FileItem): void {
    this.#filings?.taken(file);
  }

  /** A thing has ended; a file with its outcome. */
  ended(item: Item, outcome?: Outcome): void {
    switch (item.kind) {
      case 'file':
        if (outcome) this.file(outcome);
        break;
      case 'refused':
        this.file(refusal(item));
        break;
      case 'unlisted':
        this.counts.fail(item.error);
        this.#fail(item.accession);
        this.#write((time, errorOf) => failureLine(item, item.error, time, errorOf));
        break;
      case 'bad':
        this.#bad(item.number ?? 0, item.error);
        break;
      case 'unmatched':
        this.counts.unmatched += 1;
        break;
    }
    const exists = outcome !== undefined && EXISTS.has(outcome.result);
    for (const filing of this.#filings?.ended(item, exists) ?? []) this.#remember(filing);
  }

  /** A file that is part of no filing's listing here: it is counted and reported. */
  file(outcome: Outcome): void {
    const { wanted, error } = outcome;
    this.counts.add(outcome);
    if (error) this.#fail(failedLine(wanted));
    this.#write((time, errorOf) => reportLine(outcome, time, errorOf));
  }

  /** The last line: what the run came to. */
  summary(text: (time: string) => string): void {
    this.#write(text);
  }

  /** Whether it is so far behind that the run should wait for `flush`. */
  get isBehind(): boolean {
    return this.#lines.length > MOST_WAITING;
  }

  /** Appends what is still to be told. Throws what keeps it from that, then and ever after. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#writing = this.#writing.then(() => this.#outputs.report?.write(lines));
    return this.#writing;
  }

  /** All is written. Throws what keeps it from that. */
  async finish(): Promise<void> {
    this.#noMoreTimers.abort();
    await this.#remembering;
    await this.flush();
  }

  #bad(number: number, error: FilingsError): void {
    this.counts.fail(error);
    this.#fail(`# line ${number}: ${printable(this.#options.redact(error.message))}`);
    this.#write((time, errorOf) => failureLine({ line: number }, error, time, errorOf));
  }

  #fail(line: string): void {
    if (this.#outputs.failed) this.failed += `${line}\n`;
  }

  #write(line: (time: string, errorOf: ErrorOf) => string): void {
    if (!this.#outputs.report) return;
    this.#lines += `${line(this.#now(), this.#options.errorOf)}\n`;
    if (this.#isTimed) return;
    this.#isTimed = true;
    const late = this.#options.sleep(APPENDED_WITHIN_MS, this.#noMoreTimers.signal).then(() => {
      this.#isTimed = false;
      return this.flush();
    });
    late.catch((error) => this.#noMoreTimers.signal.aborted || this.onError(error));
  }

  /** Filings that come meanwhile are remembered together. */
  #remember(filing: ChosenFiling): void {
    this.#complete.push(filing);
    this.#remembering ??= this.#rememberAll().catch((error) => this.onError(error));
  }

  async #rememberAll(): Promise<void> {
    while (this.#complete.length > 0) {
      const filings = this.#complete;
      this.#complete = [];
      await this.flush();
      await this.#options.beforeDone();
      await this.#outputs.done?.add(filings);
    }
    this.#remembering = undefined;
  }

  #now(): string {
    const at = this.#options.now();
    if (at !== this.#time.at) this.#time = { at, text: new Date(at).toISOString() };
    return this.#time.text;
  }
}

const EXISTS: ReadonlySet<Outcome['result']> = new Set(['downloaded', 'resumed', 'skipped']);

function refusal({ accession, fileName, error }: Extract<Item, { kind: 'refused' }>): Outcome {
  const nothing = { bytes: 0, resumedBytes: 0, verifiedLength: false, attempts: 0, ms: 0 };
  return { wanted: { accession, fileName }, result: 'failed', path: null, ...nothing, error };
}
