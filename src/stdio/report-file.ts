import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LAST_WORDS_MS, within } from '../abort.ts';
import { Appender } from '../disk/append.ts';
import { diskFailure } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { type ByteWriter, isStreamPath, pathWriter, stdoutWriter } from './byte-writer.ts';

/** Takes lines for a program to read. */
export interface Report {
  /** Writes whole lines. Throws `local_io`; `interrupted` when stdout's reader went away; the signal's reason. */
  write(lines: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens `--report`: a file, appended to; a FIFO or a device; `-` for stdout. A reader
 * that does not read holds nothing beyond the signal, but for a moment that its last lines have.
 */
export async function openReport(path: string, world: World, signal: AbortSignal): Promise<Report> {
  const { cwd, sleep } = world;
  const at = resolve(cwd, path);
  const openPath = async () => ((await isStreamPath(at)) ? pathWriter(at, sleep, signal) : lineAppender(at));
  const writer = path === '-' ? stdoutWriter(world) : await guarded(openPath);
  const write = async (lines: string) => {
    const chunks = [Buffer.from(lines)];
    if (!signal.aborted) return writer.write(chunks, signal);
    await within(LAST_WORDS_MS, sleep, (until) =>
      writer.write(chunks, until).catch((error) => {
        if (!until.aborted) throw error;
      }),
    );
  };
  return { write: (lines) => guarded(() => write(lines)), close: () => writer.end() };
}

/** Appends lines to a plain file, which other processes may append to, too. Throws `local_io`. */
async function lineAppender(path: string): Promise<ByteWriter> {
  const failed = (error: unknown) => {
    throw diskFailure(error, path);
  };
  const appender = new Appender(await open(path, 'a+').catch(failed));
  return {
    write: (chunks) => appender.append(Buffer.concat(chunks)).catch(failed),
    end: () => appender.close(),
  };
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
