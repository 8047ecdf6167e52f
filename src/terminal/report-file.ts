import { type FileHandle, open } from 'node:fs/promises';
import { FilingsError } from '../errors.ts';
import type { OutputStream } from '../world.ts';
import { write } from './output.ts';

/** Takes lines for a program to read. */
export interface Report {
  /** Writes a line, without its line break. Throws `local_io`. */
  write(line: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens `--report`: a file, written anew; `-` for stdout; undefined for nowhere. Throws `local_io`. */
export async function openReport(path: string | undefined, world: { readonly stdout: OutputStream }): Promise<Report> {
  if (path === undefined) return { async write() {}, async close() {} };
  if (path === '-') return { write: (line) => write(world.stdout, `${line}\n`), async close() {} };
  const file = await guarded(path, () => open(path, 'w'));
  return { write: (line) => guarded(path, () => appendTo(file, line)), close: () => file.close() };
}

async function appendTo(file: FileHandle, line: string): Promise<void> {
  await file.writeFile(`${line}\n`);
}

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new FilingsError('local_io', `${path}: the report cannot be written`, {
      hint: 'choose another file with --report',
      cause,
      stopsRun: true,
    });
  }
}
