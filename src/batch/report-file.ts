import { FINAL_OUTPUT_GRACE_MS, within } from '../abort.ts';
import { AppendFile } from '../disk/append.ts';
import { FilingsError } from '../errors.ts';
import { typedPath } from '../paths.ts';
import { isStreamPath, pathWriter, stdoutWriter } from '../stdio/byte-writer.ts';
import type { World } from '../world.ts';

export interface Report {
  /** Writes whole lines. Throws `local_io`; `interrupted` when stdout's reader went away; the signal's reason. */
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

/** A reader that does not read holds nothing beyond the signal, but for a moment that its last lines have. */
export async function openReport(path: string, world: World, signal: AbortSignal): Promise<Report> {
  const { sleep } = world;
  const at = typedPath(path, world);
  const openPath = async () => ((await isStreamPath(at)) ? pathWriter(at, sleep, signal) : AppendFile.open(at));
  const writer = path === '-' ? stdoutWriter(world) : await guarded(openPath);
  const write = async (lines: string) => {
    const chunks = [Buffer.from(lines)];
    if (!signal.aborted) return writer.write(chunks, signal);
    await within(FINAL_OUTPUT_GRACE_MS, sleep, (until) =>
      writer.write(chunks, until).catch((error) => {
        if (!until.aborted) throw error;
      }),
    );
  };
  return { write: (lines) => guarded(() => write(lines)), close: () => writer.end() };
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    throw error.with({ subject: { name: '--report' }, hint: 'choose another file with --report', stopsRun: true });
  }
}
