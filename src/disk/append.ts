// Appends lines to a report or to a done list. Several processes may append to the same file at the same time. So all
// lines of a call are appended by one write with O_APPEND: then no other process can write between them (write(2)).
import { constants, readSync, writeSync } from 'node:fs';
import { closeFile, flushFile } from './calls.ts';
import { mapWriteErrors } from './failure.ts';
import { openRegular } from './open-file.ts';

const { O_APPEND, O_CREAT, O_RDWR } = constants;
const LINE_FEED = 0x0a;

export class AppendFile {
  readonly #path: string;
  readonly #fd: number;
  /**
   * Whether the file ends in the middle of a line, as a kill, a full disk or a power cut can leave it. The next write
   * then begins with a line break.
   */
  #endsMidLine: boolean;

  private constructor(path: string, fd: number, endsMidLine: boolean) {
    this.#path = path;
    this.#fd = fd;
    this.#endsMidLine = endsMidLine;
  }

  static open(path: string): Promise<AppendFile> {
    return mapWriteErrors(path, async () => {
      const { fd, stats } = openRegular(path, O_RDWR | O_APPEND | O_CREAT);
      // An empty file is treated as if there were a line feed at its end.
      const last = Buffer.of(LINE_FEED);
      if (stats.size > 0) readSync(fd, last, 0, 1, stats.size - 1);
      return new AppendFile(path, fd, last[0] !== LINE_FEED);
    });
  }

  /**
   * Appends lines, which include their line feeds. Throws `local_io`. After that some of the lines may be in the file,
   * and the last of those may be incomplete.
   */
  write(lines: readonly Buffer[]): Promise<void> {
    return mapWriteErrors(this.#path, async () => this.#append(Buffer.concat(lines)));
  }

  flush(): Promise<void> {
    return mapWriteErrors(this.#path, () => flushFile(this.#fd));
  }

  /** Does not flush. After a power cut, the next run adds filings to the done list again; a report stays incomplete. */
  end(): Promise<void> {
    return mapWriteErrors(this.#path, () => closeFile(this.#fd));
  }

  /**
   * A write may write only some of its bytes, for example on a full disk. Writing just the rest would be wrong, because
   * another process may have appended a line in the meantime. So all lines are written again after a line break, and
   * the file has one incomplete line and maybe some lines twice. If the disk is still full, this second write throws.
   */
  #append(lines: Buffer): void {
    for (;;) {
      const bytes = this.#endsMidLine ? Buffer.concat([Buffer.of(LINE_FEED), lines]) : lines;
      this.#endsMidLine = writeSync(this.#fd, bytes) < bytes.length;
      if (!this.#endsMidLine) return;
    }
  }
}
