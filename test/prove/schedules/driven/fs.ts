import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { asked, drive, opened, shut, written } from './disk.ts';

// node:fs for a process of a schedule. What is synchronous is part of the step that calls it.
export * from 'node:fs';

type Done<T> = (error: unknown, ...results: T[]) => void;

/** A function with a callback in the last place, and its promised form, of what is done in one step. */
function driven<Args extends readonly unknown[], Result>(
  name: string,
  act: (...args: Args) => Result,
  promised: (result: Result, args: Args) => unknown = (result) => result,
) {
  const call = (...all: readonly unknown[]) => {
    const args = all.slice(0, -1) as unknown as Args;
    const done = all.at(-1) as Done<Result>;
    drive(name, args[0], () => act(...args)).then(
      (result) => done(null, result),
      (error) => done(error),
    );
  };
  const inPromise = (...args: Args) =>
    drive(name, args[0], () => act(...args)).then((result) => promised(result, args));
  return Object.assign(call, { [promisify.custom]: inPromise });
}

export const open = driven('open', (...args: Parameters<typeof fs.openSync>) => opened(fs.openSync(...args), args[0]));
export const close = driven('close', (fd: number) => shut(fd));
export const stat = driven('stat', fs.statSync as (...args: unknown[]) => unknown);
export const fstat = driven('fstat', fs.fstatSync as (...args: unknown[]) => unknown);
export const lstat = driven('lstat', fs.lstatSync as (...args: unknown[]) => unknown);
export const read = driven(
  'read',
  (fd: number, buffer: Buffer, offset: number, length: number, position: number | null) =>
    fs.readSync(fd, buffer, offset, length, position),
  (bytesRead, [, buffer]) => ({ bytesRead, buffer }),
);
export const write = driven(
  'write',
  (fd: number, data: string | Buffer, ...rest: unknown[]) => written(fd, ...asked(data, ...rest)),
  (bytesWritten, [, buffer]) => ({ bytesWritten, buffer }),
);
export const writev = driven('writev', (fd: number, chunks: readonly Buffer[], position: number | null) =>
  written(fd, Buffer.concat(chunks), position),
);
