// Writes the lines of `--report` to a file, a pipe or stdout, or the list of a dry run to stdout. A line that is added
// during a write waits, and the next write has all waiting lines. An aborted run ends even if the reader of a pipe does
// not read.
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit } from '../abort.ts';
import { blameOption, openAppendFile } from '../disk/append.ts';
import { createSharedFlush } from '../disk/shared-flush.ts';
import { type ByteWriter, createStandardWriter, openPathWriter } from '../stdio/output.ts';
import { isStreamPath } from '../stdio/output-path.ts';
import type { World } from '../world.ts';

/** When more than this wait to be written, the run waits until they are, so that memory does not grow. */
const MAX_WAITING_CHARACTERS = 1 << 16;

export type ReportFile = Awaited<ReturnType<typeof openReportFile>>;

/**
 * Without a path, it is stdout. If `signal` aborts during a write to a pipe, that write fails, and nothing more is
 * written. If it aborts while no write is in progress, lines can still be written, and each write gets a grace period.
 */
export async function openReportFile(
  option: '--report' | '--dry-run',
  path: string | undefined,
  world: World,
  signal: AbortSignal,
  cancel: (error: unknown) => void,
) {
  const writer: ByteWriter = await blameOption(option, async () => {
    if (path === undefined) return createStandardWriter('stdout', world);
    return (await isStreamPath(path)) ? openPathWriter(path, world, signal) : openAppendFile(option, path);
  });
  let waitingLines = '';

  const writeWithGrace = async (lines: Buffer) => {
    if (!signal.aborted) return writer.write([lines], signal);
    await withTimeLimit(FINAL_OUTPUT_GRACE_MS, world.sleep, (timeLimit) =>
      writer.write([lines], timeLimit).catch((error) => {
        // After the grace period, these lines are given up without an error.
        if (!timeLimit.aborted) throw error;
      }),
    );
  };

  const flush = createSharedFlush(async () => {
    if (waitingLines === '') return;
    const lines = Buffer.from(waitingLines);
    waitingLines = '';
    await blameOption(option, () => writeWithGrace(lines)).catch((error) => {
      cancel(error);
      throw error;
    });
  });

  return {
    get isFull(): boolean {
      return waitingLines.length > MAX_WAITING_CHARACTERS;
    },
    add(line: string) {
      waitingLines += `${line}\n`;
      // A failure is reported to `cancel`.
      flush().catch(() => {});
    },
    /** Writes the waiting lines. After a failed write, every later call throws the same error. */
    flush,
    close: () => writer.end(),
  };
}
