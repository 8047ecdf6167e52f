// Writes the lines of `--report` to a file, a pipe or stdout, or the plan of a dry run to stdout. A line is written
// immediately, unless a write is in progress: then it waits, and the next write has all waiting lines. An aborted run
// ends even if the reader of a pipe does not read.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { AppendFile } from '../disk/append.ts';
import { FilingsError } from '../errors.ts';
import { resolveUserPath } from '../paths.ts';
import { type ByteWriter, createStandardWriter, openPathWriter } from '../stdio/byte-writer.ts';
import { isStreamPath } from '../stdio/output-path.ts';
import type { World } from '../world.ts';

/** When more than this wait to be written, the run waits until they are, so that memory does not grow. */
const MAX_WAITING_CHARACTERS = 1 << 16;

export class ReportFile {
  /** Called when a line cannot be written. The recorder of the run sets it. */
  onError: (error: unknown) => void = () => {};
  readonly #write: (lines: Buffer) => Promise<void>;
  readonly #writer: ByteWriter;
  #waitingLines = '';
  #writing: Promise<void> = Promise.resolve();
  /** Stays true after a failed write, so that nothing more is written. */
  #isWriting = false;

  private constructor(writer: ByteWriter, write: (lines: Buffer) => Promise<void>) {
    this.#writer = writer;
    this.#write = write;
  }

  /**
   * A path `-` is stdout. `option` is what errors name. If `signal` aborts during a write to a pipe, that write fails,
   * and nothing more is written. If it aborts while no write is in progress, lines can still be written, and each write
   * gets a grace period. Throws `local_io` or the signal's reason.
   */
  static async open(option: '--report' | '--dry-run', path: string, world: World, signal: AbortSignal) {
    const { sleep } = world;
    const absolute = resolveUserPath(path, world);
    const writer = await withOption(option, async () => {
      if (path === '-') return createStandardWriter('stdout', world);
      return (await isStreamPath(absolute)) ? openPathWriter(absolute, world, signal) : AppendFile.open(absolute);
    });
    const writeWithGrace = async (lines: Buffer) => {
      if (!signal.aborted) return writer.write([lines], signal);
      await withTimeLimit(FINAL_OUTPUT_GRACE_MS, sleep, (timeLimit) =>
        writer.write([lines], timeLimit).catch((error) => {
          // After the grace period, these lines are given up without an error.
          if (!timeLimit.aborted) throw error;
        }),
      );
    };
    return new ReportFile(writer, (lines) => withOption(option, () => writeWithGrace(lines)));
  }

  /** Whether the run should call `flush` before it adds more lines. */
  get isFull(): boolean {
    return this.#waitingLines.length > MAX_WAITING_CHARACTERS;
  }

  add(line: string): void {
    this.#waitingLines += `${line}\n`;
    // A failure is reported by `onError`.
    this.flush().catch(() => {});
  }

  /**
   * Writes the waiting lines, and those that are added during the write. Throws `local_io`, `interrupted` if the reader
   * of a pipe has closed it, or the signal's reason. After a failed write, every later call throws the same error.
   */
  flush(): Promise<void> {
    if (this.#waitingLines !== '' && !this.#isWriting) {
      this.#isWriting = true;
      this.#writing = this.#writing.then(() => this.#writeAllWaiting());
      this.#writing.catch(this.onError);
    }
    return this.#writing;
  }

  close(): Promise<void> {
    return this.#writer.end();
  }

  async #writeAllWaiting(): Promise<void> {
    while (this.#waitingLines !== '') {
      const lines = Buffer.from(this.#waitingLines);
      this.#waitingLines = '';
      await this.#write(lines);
    }
    this.#isWriting = false;
  }
}

/** Adds the option to a `local_io` error of `work`, and makes it an error that stops the run. */
async function withOption<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    // The plan of a dry run always goes to stdout, so there is no other file to choose.
    const hint = option === '--report' ? 'choose another file with --report' : undefined;
    throw error.with({ subject: { name: option }, hint, stopsRun: true });
  }
}
