// Writes the lines of `--report`, or the plan of a dry run, to a file, a pipe or stdout. Lines are written at once, and
// gather while a write is under way. A reader that does not read must not keep the run from ending after a signal.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { AppendFile } from '../disk/append.ts';
import { FilingsError } from '../errors.ts';
import { resolveTypedPath } from '../paths.ts';
import { type ByteWriter, isStreamPath, pathWriter, stdoutWriter } from '../stdio/byte-writer.ts';
import type { World } from '../world.ts';

/** Number of characters that may wait before the run waits, too. */
const MAX_BACKLOG = 1 << 16;

/** The open report or plan of a run. */
export class ReportFile {
  /** Called when a line cannot be written. */
  onError: (error: unknown) => void = () => {};
  readonly #write: (lines: Buffer) => Promise<void>;
  readonly #writer: ByteWriter;
  #lines = '';
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;

  private constructor(writer: ByteWriter, write: (lines: Buffer) => Promise<void>) {
    this.#writer = writer;
    this.#write = write;
  }

  /**
   * Opens the file of an option; a path `-` is stdout. After `signal` aborts, the last lines have only a grace period.
   * Throws `local_io`.
   */
  static async open(option: '--report' | '--dry-run', path: string, world: World, signal: AbortSignal) {
    const { sleep } = world;
    const absolute = resolveTypedPath(path, world);
    const writer = await withOption(option, async () => {
      if (path === '-') return stdoutWriter(world);
      return (await isStreamPath(absolute)) ? pathWriter(absolute, sleep, signal) : AppendFile.open(absolute);
    });
    const write = async (lines: Buffer) => {
      if (!signal.aborted) return writer.write([lines], signal);
      await withTimeLimit(FINAL_OUTPUT_GRACE_MS, sleep, (until) =>
        writer.write([lines], until).catch((error) => {
          if (!until.aborted) throw error;
        }),
      );
    };
    return new ReportFile(writer, (lines) => withOption(option, () => write(lines)));
  }

  /** Whether the run should wait for the lines. */
  get isFull(): boolean {
    return this.#lines.length > MAX_BACKLOG;
  }

  add(line: string): void {
    this.#lines += `${line}\n`;
    this.flush().catch(() => {});
  }

  /**
   * Writes the waiting lines, and those that are added during the write. Throws `local_io`, `interrupted` if the reader
   * of stdout has closed it, or the signal's reason, also at each later call.
   */
  flush(): Promise<void> {
    if (this.#lines !== '' && !this.#isWriting) {
      this.#isWriting = true;
      this.#writing = this.#writing.then(() => this.#writeLines());
      this.#writing.catch(this.onError);
    }
    return this.#writing;
  }

  close(): Promise<void> {
    return this.#writer.end();
  }

  async #writeLines(): Promise<void> {
    while (this.#lines !== '') {
      const lines = Buffer.from(this.#lines);
      this.#lines = '';
      await this.#write(lines);
    }
    this.#isWriting = false;
  }
}

async function withOption<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    const hint = option === '--report' ? 'choose another file with --report' : undefined;
    throw error.with({ subject: { name: option }, hint, stopsRun: true });
  }
}
