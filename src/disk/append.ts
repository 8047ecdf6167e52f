// Appends lines to a report or to a done list. Several processes may append to the same file at the same time. So all
// lines of a call are appended by one write with O_APPEND: then no other process can write between them (write(2)).
import { constants, readSync, writeSync } from 'node:fs';
import { FilingsError } from '../errors.ts';
import { closeFile, flushFile } from './calls.ts';
import { mapWriteErrors } from './failure.ts';
import { openRegular } from './open-file.ts';

const { O_APPEND, O_CREAT, O_RDWR } = constants;

export type AppendFile = Awaited<ReturnType<typeof openAppendFile>>;

/** The file of `option`. Errors name the option, and stop the run. */
export function openAppendFile(option: string, path: string) {
  const attempt = <T>(work: () => Promise<T>) => blameOption(option, () => mapWriteErrors(path, work));
  return attempt(async () => {
    const { fd, stats } = openRegular(path, O_RDWR | O_APPEND | O_CREAT);
    // An empty file is treated as if there were a line feed at its end.
    const last = Buffer.from('\n');
    if (stats.size > 0) readSync(fd, last, 0, 1, stats.size - 1);
    // A kill, a full disk or a power cut can leave a file that ends in the middle of a line. Then the next write begins
    // with a line break.
    let endsMidLine = last.toString() !== '\n';

    /**
     * A write may write only some of its bytes, for example on a full disk. Writing just the rest would be wrong,
     * because another process may have appended a line in the meantime. So all lines are written again after a line
     * break, and the file has one incomplete line and maybe some lines twice. If the disk is still full, this second
     * write throws.
     */
    const append = (lines: Buffer) => {
      do {
        const bytes = endsMidLine ? Buffer.concat([Buffer.from('\n'), lines]) : lines;
        endsMidLine = writeSync(fd, bytes) < bytes.length;
      } while (endsMidLine);
    };

    return {
      /**
       * The lines include their line feeds. After an error some of them may be in the file, the last one incomplete.
       */
      write: (lines: readonly Buffer[]) => attempt(async () => append(Buffer.concat(lines))),
      flush: () => attempt(() => flushFile(fd)),
      /**
       * Does not flush. After a power cut, the next run adds filings to the done list again; a report stays incomplete.
       */
      end: () => attempt(() => closeFile(fd)),
    };
  });
}

/** Makes a `local_io` of `work` an error that names the option and stops the run. */
export async function blameOption<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    // The list of a dry run always goes to stdout, so there is no other file to choose.
    const hint = option === '--dry-run' ? undefined : `choose another file with ${option}`;
    throw error.with({ subject: { name: option }, hint, stopsRun: true });
  }
}
