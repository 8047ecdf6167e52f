// Writes the lines of `--report` to a file, a pipe or stdout, or the plan of a dry run to stdout. A line that is added
// during a write waits, and the next write has all waiting lines. An aborted run ends even if the reader of a pipe does
// not read.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { AppendFile } from '../disk/append.ts';
import { SharedFlush } from '../disk/shared-flush.ts';
import { resolveUserPath } from '../paths.ts';
import { type ByteWriter, createStandardWriter, openPathWriter } from '../stdio/output.ts';
import { isStreamPath } from '../stdio/output-path.ts';
import type { World } from '../world.ts';
import { blameOption } from './option-errors.ts';

/** When more than this wait to be written, the run waits until they are, so that memory does not grow. */
const MAX_WAITING_CHARACTERS = 1 << 16;

export class ReportFile {
  readonly #onError: (error: unknown) => void;
  readonly #write: (lines: Buffer) => Promise<void>;
  readonly #writer: ByteWriter;
  #waitingLines = '';
  readonly #flush = new SharedFlush(() => this.#writeWaiting());

  private constructor(writer: ByteWriter, write: (lines: Buffer) => Promise<void>, onError: (error: unknown) => void) {
    this.#writer = writer;
    this.#write = write;
    this.#onError = onError;
  }

  /**
   * A path `-` is stdout. If `signal` aborts during a write to a pipe, that write fails, and nothing more is written.
   * If it aborts while no write is in progress, lines can still be written, and each write gets a grace period.
   */
  static async open(
    option: '--report' | '--dry-run',
    path: string,
    world: World,
    signal: AbortSignal,
    onError: (error: unknown) => void,
  ) {
    const { sleep } = world;
    const absolute = resolveUserPath(path, world);
    const writer = await blameOption(option, async () => {
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
    return new ReportFile(writer, (lines) => blameOption(option, () => writeWithGrace(lines)), onError);
  }

  get isFull(): boolean {
    return this.#waitingLines.length > MAX_WAITING_CHARACTERS;
  }

  add(line: string): void {
    this.#waitingLines += `${line}\n`;
    // A failure is reported to `#onError`.
    this.flush().catch(() => {});
  }

  /**
   * Writes the waiting lines. Throws `local_io`, `interrupted` if the reader of a pipe has closed it, or the signal's
   * reason. After a failed write, every later call throws the same error.
   */
  flush(): Promise<void> {
    return this.#flush.run();
  }

  close(): Promise<void> {
    return this.#writer.end();
  }

  async #writeWaiting(): Promise<void> {
    if (this.#waitingLines === '') return;
    const lines = Buffer.from(this.#waitingLines);
    this.#waitingLines = '';
    await this.#write(lines).catch((error) => {
      this.#onError(error);
      throw error;
    });
  }
}
