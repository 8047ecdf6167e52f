import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFailure } from '../disk/failure.ts';
import { replaceFile } from '../disk/replace-file.ts';
import type { FilingsError } from '../errors.ts';
import { printable } from '../terminal/printable.ts';

const MODE = 0o666;

/** `--failed`: what failed, as lines that `--input` takes. It takes its place when the run ends, so that it may name the next run's input. */
export class FailedList {
  readonly #path: string;
  #lines = '';

  private constructor(path: string) {
    this.#path = path;
  }

  /** Throws `local_io` where it can't be written. */
  static async open(path: string): Promise<FailedList> {
    await access(dirname(path), constants.W_OK).catch((error) => {
      throw diskFailure(error, `--failed ${path}`, 'choose another file');
    });
    return new FailedList(path);
  }

  /** A file, or with no name the whole filing. */
  add(accession: string, fileName?: string): void {
    this.#lines += `${failedLine(accession, fileName)}\n`;
  }

  /** A line of the input that can't be used, as a comment. */
  addBadLine(number: number, error: FilingsError, redact: (text: string) => string): void {
    this.#lines += `# line ${number}: ${printable(redact(error.message))}\n`;
  }

  /** Replaces what was there. Throws `local_io`. */
  async finish(): Promise<void> {
    await replaceFile(this.#path, this.#lines, 'choose another file', MODE);
  }
}

/** As text where the name comes back as it is, otherwise as an object. */
function failedLine(accession: string, fileName: string | undefined): string {
  if (fileName === undefined) return accession;
  const plain = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u.test(fileName);
  return plain ? `${accession} ${fileName}` : JSON.stringify({ accession_no: accession, file_name: fileName });
}
