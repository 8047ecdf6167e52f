import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { stage } from '../stage.ts';
import { asked, drive, flushed, opened, requireRoom, shut, truncated, written } from './disk.ts';

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

export const open = driven('open', (...args: Parameters<typeof fs.openSync>) => {
  const [path, flags] = args;
  const isNew = !fs.existsSync(path);
  if (isNew && typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0) requireRoom();
  return opened(fs.openSync(...args), path, isNew);
});
/** What the kernel tells of its boot is the schedule's. */
export const readFileSync = ((path: string, ...rest: []) =>
  path === '/proc/sys/kernel/random/boot_id'
    ? stage().machine.bootId
    : fs.readFileSync(path, ...rest)) as typeof fs.readFileSync;

export const close = driven('close', (fd: number) => shut(fd));
export const fsync = driven('sync', (fd: number) => flushed(fd, fs.fsyncSync));
export const fdatasync = driven('datasync', (fd: number) => flushed(fd, fs.fdatasyncSync));
export const ftruncate = driven('truncate', (fd: number, length: number) => truncated(fd, length));
export const fchmod = driven('chmod', (fd: number, mode: number) => fs.fchmodSync(fd, mode));
export const futimes = driven('utimes', (fd: number, read: Date, changed: Date) => fs.futimesSync(fd, read, changed));
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
export const writev = driven(
  'writev',
  (fd: number, chunks: readonly Buffer[], position: number | null = null) =>
    written(fd, Buffer.concat(chunks), position),
  (bytesWritten, [, buffers]) => ({ bytesWritten, buffers }),
);
