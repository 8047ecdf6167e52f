import * as fs from 'node:fs';
import { basename } from 'node:path';
import { ownerOf } from '../part-names.ts';
import type { Process } from '../process.ts';
import { acting, stage } from '../stage.ts';

// The disk of a schedule: the real one, asked in the schedule's order, which gets full and fails as the schedule says.

/** One operation of the disk, as a step of the process that runs now. */
export function drive<T>(operation: string, on: unknown, act: () => T): Promise<T> {
  const process = acting();
  const what = () => `${operation} ${typeof on === 'number' ? (process.open.get(on) ?? on) : basename(String(on))}`;
  return stage().scheduler.do(what, act, process);
}

export function opened(fd: number, path: unknown, isNew = false): number {
  if (isNew) stage().machine.touched(fd);
  acting().open.set(fd, basename(String(path)));
  return fd;
}

export function shut(fd: number): void {
  acting().open.delete(fd);
  fs.closeSync(fd);
}

/** A write at the file's own position, or at one given; the first that a full disk refuses takes half of it, as writes do. */
export function written(fd: number, bytes: Buffer, position: number | null = null): number {
  const process = acting();
  const { machine } = stage();
  machine.dirties(fd, position);
  try {
    return writtenBy(process, fd, bytes, position);
  } finally {
    machine.touched(fd);
  }
}

function writtenBy(process: Process, fd: number, bytes: Buffer, position: number | null): number {
  if (!process.diskIsFull) return fs.writeSync(fd, bytes, 0, bytes.length, position);
  process.diskFailures += 1;
  if (process.diskFailures > 1 || bytes.length < 2) throw systemError('ENOSPC', -28, 'write');
  return fs.writeSync(fd, bytes, 0, bytes.length >> 1, position);
}

export function truncated(fd: number, length: number): void {
  const { machine } = stage();
  machine.dirties(fd, length);
  fs.ftruncateSync(fd, length);
  machine.touched(fd);
}

/** The bytes and the position that `fs.write` is given, as text or as part of a buffer. */
export function asked(data: string | Buffer, ...rest: readonly unknown[]): [bytes: Buffer, position: number | null] {
  if (typeof data === 'string') return [Buffer.from(data), (rest[0] as number | undefined) ?? null];
  const [offset = 0, length = data.length, position = null] = rest as [number?, number?, (number | null)?];
  return [data.subarray(offset, offset + length), position];
}

/** Before something takes room on the disk. */
export function requireRoom(): void {
  const process = acting();
  if (!process.diskIsFull) return;
  process.diskFailures += 1;
  throw systemError('ENOSPC', -28, 'open');
}

/** A live process's part is never touched: that somebody takes or removes this file is looked at. */
export function requireOwnerless(path: string): void {
  const process = acting();
  const { running, trespasses } = stage();
  const owner = ownerOf(basename(String(path)));
  if (owner === undefined || owner === process.pid || !running.has(owner)) return;
  trespasses.push(`${process.name} takes ${basename(String(path))}, whose owner runs`);
}

export function flushed(fd: number, flush: (fd: number) => void): void {
  const process = acting();
  flush(fd);
  if (!process.flushesFail) {
    stage().machine.flushed(fd);
    return;
  }
  process.diskFailures += 1;
  throw systemError('EIO', -5, 'fsync');
}

function systemError(code: string, errno: number, syscall: string): Error {
  return Object.assign(new Error(`${code}: by the schedule, ${syscall}`), { code, errno, syscall });
}
