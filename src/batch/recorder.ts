import { createAbortController } from '../abort.ts';
import type { FilingsError } from '../errors.ts';
import { LargeMap } from '../large-map.ts';
import { errorObject, type HintOf } from '../terminal/messages.ts';
import { printable } from '../terminal/printable.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Outcome } from '../transfer/outcome.ts';
import type { World } from '../world.ts';
import type { DoneList } from './done-list.ts';
import { noMatch } from './glob.ts';
import type { ChosenFiling, Item } from './item.ts';
import { fileKey } from './name-check.ts';
import { outcomeLine } from './outcome-line.ts';
import { Counts, failedLine, reportLine } from './report.ts';
import type { Report } from './report-file.ts';

/** From a file's end to its line in the report. */
const APPENDED_WITHIN_MS = 100;
/** So many characters wait before the run waits for its report. */
const MAX_WAITING = 1 << 16;

interface RecorderOptions {
  readonly report: Report | undefined;
  readonly done: DoneList | undefined;
  readonly keepsFailed: boolean;
  /** Until the checksums of what has ended are on disk. */
  readonly beforeDone: () => Promise<void>;
  readonly progress: Progress;
  readonly tellsSkipped: boolean;
  /** Such a run ends with the error itself. */
  readonly alone: 'file' | 'filing' | undefined;
  readonly hintOf: HintOf;
  readonly world: Pick<World, 'now' | 'sleep' | 'secrets' | 'platform'>;
}

/**
 * Tells how each thing ended: on stderr, in the counts, the report, the failed list and the done list. Report lines are
 * appended a few at a time; a filing is in the done list only after its files' lines.
 */
export class Recorder {
  readonly counts = new Counts();
  /** Lines that `--input` takes; its bad lines are comments. */
  failed = '';
  alone: FilingsError | undefined;
  onError: (error: unknown) => void = () => {};
  readonly #options: RecorderOptions;
  #lines = '';
  #writing: Promise<void> = Promise.resolve();
  #isTimed = false;
  readonly #noMoreTimers = createAbortController();
  /** Of files that lines name. */
  readonly #failedNames = new LargeMap<string, true>();
  /** Named or chosen before. */
  readonly #again: (readonly [key: string, filing: ChosenFiling])[] = [];
  /** They wait for their done line. */
  #complete: ChosenFiling[] = [];
  #remembering: Promise<void> | undefined;
  #time = { at: 0, text: '' };

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** `isTold`: whatever ends the run tells the error. */
  ended(item: Item, outcome: Outcome | undefined = failureOf(item), isTold = false): void {
    const { secrets, platform } = this.#options.world;
    const shown = { secrets, hintOf: this.#options.hintOf };
    if (outcome) {
      this.counts.add(outcome);
      if ('size' in item) this.counts.addEnded(item.size, outcome);
      if (outcome.error && this.#options.keepsFailed) this.failed += `${this.#failedLine(item)}\n`;
      this.write((time) =>
        reportLine(item, outcome, { time, platform, errorOf: (error) => errorObject(error, shown) }),
      );
    }
    if (item.kind === 'unmatched') this.counts.unmatched += 1;
    this.#tell(item, outcome, isTold);
    if (this.#options.done) this.#note(item, outcome !== undefined && EXISTS.has(outcome.result));
  }

  get isBehind(): boolean {
    return this.#lines.length > MAX_WAITING;
  }

  /** Throws what keeps lines from being written, then and ever after. */
  flush(): Promise<void> {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#writing = this.#writing.then(() => this.#options.report?.write(lines));
    return this.#writing;
  }

  /** Throws as `flush`; `isAll`: nothing was left out. */
  async finish(isAll: boolean): Promise<void> {
    for (const [key, filing] of isAll ? this.#again : []) if (!this.#failedNames.has(key)) this.#exists(filing);
    await this.#remembering;
    await this.flush();
  }

  async close(): Promise<void> {
    const { report, done } = this.#options;
    this.#noMoreTimers.abort();
    await this.flush().finally(() => Promise.all([report?.close(), done?.close()]));
  }

  /** A file that was downloaded has told so in the place of its bar. */
  #tell(item: Item, outcome: Outcome | undefined, isTold: boolean): void {
    const { alone, tellsSkipped, progress } = this.#options;
    const unmatched = item.kind === 'unmatched' ? noMatch(item.accession, item.files) : undefined;
    const error = unmatched ?? outcome?.error;
    if (error && (alone === 'file' || (alone === 'filing' && !('fileName' in item)))) this.alone ??= error;
    else if (unmatched) progress.note(unmatched.message);
    else if (error && !isTold) progress.failure(error);
    else if (item.kind !== 'file') return;
    else if (outcome?.result === 'planned' || (outcome?.result === 'skipped' && tellsSkipped)) {
      progress.note(outcomeLine(item.fileName, outcome));
    }
  }

  #failedLine(item: Item): string {
    if (item.kind === 'bad') return `# ${printable(this.#options.world.secrets.redact(item.error.message))}`;
    return failedLine(item.accession, 'fileName' in item ? item.fileName : undefined);
  }

  write(line: (time: string) => string): void {
    if (!this.#options.report) return;
    this.#lines += `${line(this.#now())}\n`;
    if (this.#isTimed) return;
    this.#isTimed = true;
    const late = this.#options.world.sleep(APPENDED_WITHIN_MS, this.#noMoreTimers.signal).then(() => {
      this.#isTimed = false;
      return this.flush();
    });
    late.catch((error) => this.#noMoreTimers.signal.aborted || this.onError(error));
  }

  /** A filing is known to be complete with its last file; where lines name a file of it, too, when all has ended. */
  #note(item: Item, exists: boolean): void {
    if (!('fileName' in item)) return;
    const { accession, fileName, filing, kind } = item;
    if (filing && kind !== 'duplicate') {
      if (exists) this.#exists(filing);
    } else if (filing) this.#again.push([fileKey(accession, fileName), filing]);
    else if (kind !== 'duplicate' && !exists) this.#failedNames.set(fileKey(accession, fileName), true);
  }

  /** Those that are complete meanwhile are remembered together. */
  #exists(filing: ChosenFiling): void {
    filing.missing -= 1;
    if (filing.missing > 0) return;
    this.#complete.push(filing);
    this.#remembering ??= this.#rememberAll().catch((error) => this.onError(error));
  }

  async #rememberAll(): Promise<void> {
    while (this.#complete.length > 0) {
      const filings = this.#complete;
      this.#complete = [];
      await this.flush();
      await this.#options.beforeDone();
      await this.#options.done?.add(filings);
    }
    this.#remembering = undefined;
  }

  #now(): string {
    const at = this.#options.world.now();
    if (at !== this.#time.at) this.#time = { at, text: new Date(at).toISOString() };
    return this.#time.text;
  }
}

const EXISTS: ReadonlySet<Outcome['result']> = new Set(['downloaded', 'resumed', 'skipped']);

function failureOf(item: Item): Outcome | undefined {
  const nothing = { path: null, bytes: 0, resumedBytes: 0, verifiedLength: false, attempts: 0, ms: 0 };
  return 'error' in item ? { ...nothing, result: 'failed', error: item.error } : undefined;
}
