// Writes the lines of `--report` to a file, a pipe or stdout. A reader that does not read must not keep the run from
// ending after a signal.
import { FINAL_OUTPUT_GRACE_MS, within } from '../abort.ts';
import { AppendFile } from '../disk/append.ts';
import { FilingsError } from '../errors.ts';
import { typedPath } from '../paths.ts';
import { isStreamPath, pathWriter, stdoutWriter } from '../stdio/byte-writer.ts';
import type { World } from '../world.ts';

/** The open report of a run. */
export interface Report {
  /**
   * Writes whole lines. Throws `local_io`, `interrupted` if the reader of stdout has closed it, or the signal's reason.
   */
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the report; a path `-` is stdout. After `signal` aborts, the last lines have only a grace period. Throws
 * `local_io`.
 */
export async function openReport(path: string, world: World, signal: AbortSignal): Promise<Report> {
  const { sleep } = world;
  const absolute = typedPath(path, world);
  const openPath = async () =>
    (await isStreamPath(absolute)) ? pathWriter(absolute, sleep, signal) : AppendFile.open(absolute);
  const writer = path === '-' ? stdoutWriter(world) : await withReportError(openPath);
  const write = async (lines: string) => {
    const chunks = [Buffer.from(lines)];
    if (!signal.aborted) return writer.write(chunks, signal);
    await within(FINAL_OUTPUT_GRACE_MS, sleep, (until) =>
      writer.write(chunks, until).catch((error) => {
        if (!until.aborted) throw error;
      }),
    );
  };
  return { write: (lines) => withReportError(() => write(lines)), close: () => writer.end() };
}

async function withReportError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    throw error.with({ subject: { name: '--report' }, hint: 'choose another file with --report', stopsRun: true });
  }
}
