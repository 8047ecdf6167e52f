import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFailure } from '../../disk/failure.ts';
import { flushDirectory } from '../../disk/make-directories.ts';
import { requireReplaceable } from '../../disk/plain-file.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * `--failed`: what failed, as lines that `--input` takes. Written beside the file and put in its place when the run ends, so
 * that it may name the input of the next run.
 */
export class FailedList {
  readonly #path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  /** A line could not be written: the list is not whole. */
  #isTorn = false;

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  /** Throws `local_io`. */
  static async open(path: string): Promise<FailedList> {
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666).catch((error) => {
      throw diskFailure(error, `--failed ${path}`, 'choose another file');
    });
    return new FailedList(path, temporary, handle);
  }

  /** A file, or with no name the whole filing. Throws `local_io`. */
  async add(accession: string, fileName?: string): Promise<void> {
    await this.#guard(() => this.#handle.appendFile(`${failedLine(accession, fileName)}\n`)).catch((error) => {
      this.#isTorn = true;
      throw error;
    });
  }

  /** Puts it in place, unless it is not whole. Throws `local_io`. */
  async finish(): Promise<void> {
    if (this.#isTorn) return this.abandon();
    await this.#guard(async () => {
      await this.#handle.sync();
      await this.#handle.close();
      await requireReplaceable(this.#path);
      await rename(this.#temporary, this.#path);
      await flushDirectory(dirname(this.#path));
    });
  }

  /** Leaves what was there. Never throws. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await unlink(this.#temporary).catch(() => {});
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw diskFailure(error, `--failed ${this.#path}`, 'choose another file');
    }
  }
}

/** As text where the name comes back as it is, otherwise as an object. */
function failedLine(accession: string, fileName: string | undefined): string {
  if (fileName === undefined) return accession;
  const plain = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u.test(fileName);
  return plain ? `${accession} ${fileName}` : JSON.stringify({ accession_no: accession, file_name: fileName });
}
