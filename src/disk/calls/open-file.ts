import {
  close,
  closeSync,
  fchmod,
  fdatasync,
  fstat,
  fstatSync,
  fsync,
  ftruncate,
  futimes,
  read,
  type Stats,
  writev,
  writevSync,
} from 'node:fs';
import { promisify } from 'node:util';
import type { Disk } from './disk.ts';

/** A copy of so many bytes is soon made; more may have to wait until the disk has room for it. */
const SMALL_BYTES = 64 << 10;

const later = {
  stat: promisify<number, Stats>(fstat),
  read: promisify(read),
  writev: promisify(writev),
  sync: promisify(fsync),
  datasync: promisify(fdatasync),
  truncate: promisify(ftruncate),
  chmod: promisify(fchmod),
  utimes: promisify(futimes),
  close: promisify(close),
};

/** As much of an open file as those who write one need; Node's FileHandle is one, too. Errors are the system's own. */
export interface OpenFile {
  readonly fd: number;
  stat(): Promise<Stats>;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  writev(chunks: readonly Buffer[], position: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  chmod(mode: number): Promise<void>;
  utimes(accessed: Date, modified: Date): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file of a disk: what is done at once is waited for, as the disk does; what takes long never is. Its number may be
 * another file's as soon as it is closed: so that waits for all that is under way, and nothing is begun behind it (EBADF).
 */
export class Descriptor implements OpenFile {
  readonly #disk: Disk;
  readonly #underWay = new Set<Promise<unknown>>();
  #fd: number | undefined;
  #closing: Promise<void> | undefined;

  constructor(fd: number, disk: Disk) {
    this.#fd = fd;
    this.#disk = disk;
  }

  /** Throws EBADF once it is closed. */
  get fd(): number {
    if (this.#fd !== undefined) return this.#fd;
    throw Object.assign(new Error('EBADF: the file is closed'), { code: 'EBADF' });
  }

  stat(): Promise<Stats> {
    return this.#disk.call(
      () => fstatSync(this.fd),
      () => this.#later(later.stat),
    );
  }

  /** May be called again. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  writev(chunks: readonly Buffer[], position: number): Promise<{ readonly bytesWritten: number }> {
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    const soon = () => this.#later((fd) => later.writev(fd, chunks, position));
    if (bytes > SMALL_BYTES) return soon();
    return this.#disk.call(() => ({ bytesWritten: writevSync(this.fd, chunks, position) }), soon);
  }

  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }> {
    return this.#later((fd) => later.read(fd, buffer, offset, length, position));
  }

  sync(): Promise<void> {
    return this.#later(later.sync);
  }

  datasync(): Promise<void> {
    return this.#later(later.datasync);
  }

  truncate(length: number): Promise<void> {
    return this.#later((fd) => later.truncate(fd, length));
  }

  chmod(mode: number): Promise<void> {
    return this.#later((fd) => later.chmod(fd, mode));
  }

  utimes(accessed: Date, modified: Date): Promise<void> {
    return this.#later((fd) => later.utimes(fd, accessed, modified));
  }

  async #later<T>(call: (fd: number) => Promise<T>): Promise<T> {
    const calling = call(this.fd);
    this.#underWay.add(calling);
    try {
      return await calling;
    } finally {
      this.#underWay.delete(calling);
    }
  }

  async #end(): Promise<void> {
    const { fd } = this;
    this.#fd = undefined;
    await Promise.allSettled(this.#underWay);
    await this.#disk.call(
      () => closeSync(fd),
      () => later.close(fd),
    );
  }
}
