import { resolve } from 'node:path';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { isStreamPath, lineAppender, pathWriter, stdoutWriter } from './byte-writer.ts';

/** After the signal, a reader has so long to take what was still to be told. */
const LAST_WORDS_MS = 1000;

/** Takes lines for a program to read. */
export interface Report {
  /** Writes whole lines. Throws `local_io`; `interrupted` when stdout's reader went away; the signal's reason. */
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens `--report`: a file, appended to; a FIFO or a device; `-` for stdout. A reader
 * that does not read holds nothing beyond the signal.
 */
export async function openReport(
  path: string,
  { cwd, stdout, sleep }: Pick<World, 'cwd' | 'stdout' | 'sleep'>,
  signal: AbortSignal,
): Promise<Report> {
  const at = resolve(cwd, path);
  const open = async () => ((await isStreamPath(at)) ? pathWriter(at, sleep, signal) : lineAppender(at));
  const writer = path === '-' ? stdoutWriter(stdout) : await guarded(open);
  const write = async (lines: string) => {
    const until = signal.aborted ? AbortSignal.timeout(LAST_WORDS_MS) : signal;
    await writer.write([Buffer.from(lines)], until).catch((error) => {
      if (until === signal || !until.aborted) throw error;
    });
  };
  return { write: (lines) => guarded(() => write(lines)), close: () => writer.end() };
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    throw error.reworded(`--report ${error.message}`, {
      hint: 'choose another file with --report',
      stopsRun: true,
      cause: error,
    });
  }
}
