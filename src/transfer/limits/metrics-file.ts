import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { replaceFile } from '../../disk/replace-file.ts';
import { type Figures, lastSuccessIn, metricsText } from './metrics.ts';

const EVERY_MS = 15_000;
/** The collector runs as another user. */
const READABLE = 0o644;

/** `--metrics`: replaced whole, every 15 s and at the end of the run. */
export class MetricsFile {
  readonly #path: string;
  readonly #figures: () => Figures;
  readonly #lastSuccess: number | undefined;
  readonly #timer: ReturnType<typeof setInterval>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, figures: () => Figures, lastSuccess: number | undefined) {
    this.#path = path;
    this.#figures = figures;
    this.#lastSuccess = lastSuccess;
    // A disk that is full for a while is no reason to end the run: the last writing tells.
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#write({})).catch(() => {});
    }, EVERY_MS).unref();
  }

  /** Begins with what the run has so far, and the old file's time of the last success. Throws `local_io`. */
  static async open(path: string, figures: () => Figures): Promise<MetricsFile> {
    const old = await textOf(path).catch(() => '');
    const file = new MetricsFile(path, figures, lastSuccessIn(old));
    await file.#write({}).catch((error) => {
      clearInterval(file.#timer);
      throw error;
    });
    return file;
  }

  /** The run has ended; `now` in milliseconds since the epoch. Throws `local_io`. */
  async close(exitCode: number, now: number): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.#write({ exitCode, ...(exitCode === 0 && { lastSuccess: now }) });
  }

  #write(end: Pick<Figures, 'exitCode' | 'lastSuccess'>): Promise<void> {
    const text = metricsText({ ...this.#figures(), lastSuccess: this.#lastSuccess, ...end });
    return replaceFile(this.#path, text, 'choose another file with --metrics', READABLE);
  }
}

/** What a plain file says, also behind a link; an empty text where something else stands, which holds nobody. Throws what the system says. */
async function textOf(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return (await handle.stat()).isFile() ? await handle.readFile('utf8') : '';
  } finally {
    await handle.close();
  }
}
