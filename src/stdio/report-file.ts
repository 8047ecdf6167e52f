import { resolve } from 'node:path';
import type { Sleep } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type ByteWriter, isStreamPath, lineAppender, pathWriter, stdoutWriter } from './byte-writer.ts';

/** After the signal, a reader has so long to take what was still to be told. */
const LAST_WORDS_MS = 1000;

/** Takes lines for a program to read. */
export interface Report {
  /** Writes a line, without its line break. Throws `local_io`; `interrupted` when stdout's reader went away; the signal's reason. */
  write(line: string): Promise<void>;
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
  const writer = path === '-' ? stdoutWriter(stdout) : await guarded(() => openAt(resolve(cwd, path), sleep, signal));
  return {
    write: (line) => guarded(() => tell(writer, Buffer.from(`${line}\n`), signal)),
    close: () => writer.end(),
  };
}

async function openAt(path: string, sleep: Sleep, signal: AbortSignal): Promise<ByteWriter> {
  return (await isStreamPath(path)) ? pathWriter(path, sleep, signal) : lineAppender(path);
}

async function tell(writer: ByteWriter, line: Buffer, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) return writer.write([line], signal);
  const patience = AbortSignal.timeout(LAST_WORDS_MS);
  await writer.write([line], patience).catch((error) => {
    if (!patience.aborted) throw error;
  });
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
