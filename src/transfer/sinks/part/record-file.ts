import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Disk } from '../../../disk/calls/disk.ts';
import { isNamed, openOwn } from '../../../disk/plain-file.ts';
import { errnoOf } from '../../../errors.ts';
import {
  flushedLine,
  type Identity,
  type Known,
  MOST_RECORD_BYTES,
  parseRecord,
  type ResumeRecord,
  recordLine,
} from './resume-record.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/** The record beside a part, held open: what stands under its name later is no matter. */
export class RecordFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #headBytes: number;
  #size: number;

  private constructor(path: string, handle: FileHandle, headBytes: number, size: number) {
    this.#path = path;
    this.#handle = handle;
    this.#headBytes = headBytes;
    this.#size = size;
  }

  /**
   * Writes a record, and flushes it. Undefined when there is none to be had: it could not be read back, or
   * somebody else keeps the name occupied. Throws what the system says.
   */
  static async create(path: string, record: ResumeRecord): Promise<RecordFile | undefined> {
    const line = recordLine(record);
    if (line === undefined) return undefined;
    const handle =
      (await openNew(path)) ??
      (await unlink(path).then(
        () => openNew(path),
        () => undefined,
      ));
    if (!handle) return undefined;
    try {
      await handle.writeFile(line);
      await handle.sync();
      return new RecordFile(path, handle, Buffer.byteLength(line), Buffer.byteLength(line));
    } catch (error) {
      await handle.close().catch(() => {});
      await unlink(path).catch(() => {});
      throw error;
    }
  }

  /** Opens a record to go on with it; undefined when it is none of this user's, or not of this file. Never throws. */
  static async open(path: string, identity: Identity, uid: number | undefined): Promise<OpenRecord | undefined> {
    const handle = await openOwn(path, O_RDWR | O_APPEND, uid);
    const text = handle && (await textOf(handle));
    const known = text === undefined ? undefined : parseRecord(text, identity);
    const line = known && recordLine(known.record);
    if (!handle || !line) {
      await handle?.close();
      return undefined;
    }
    return { file: new RecordFile(path, handle, Buffer.byteLength(line), Buffer.byteLength(text ?? '')), ...known };
  }

  /** Notes how many bytes are on disk. Never throws: without the note a reboot costs more bytes, nothing else. */
  async note(bytes: number): Promise<void> {
    const line = flushedLine(bytes);
    try {
      if (this.#size + line.length > MOST_RECORD_BYTES) await this.#empty();
      this.#size += line.length;
      await this.#handle.write(line);
    } catch {
      // As said.
    }
  }

  /** Whether it still has its name. Throws what the system says. */
  isThere(disk: Disk): Promise<boolean> {
    return isNamed(disk, this.#path, this.#handle);
  }

  /** Begins anew with what is known to be on disk: no torn line, no number from before the part was cut. Throws what the system says. */
  async restate(bytes: number): Promise<void> {
    await this.#empty();
    await this.note(bytes);
  }

  /** Removes it; one that is gone already is no loss. Throws what the system says. */
  async drop(): Promise<void> {
    await this.close();
    await unlink(this.#path).catch((error) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  /** Leaves the first line alone. */
  async #empty(): Promise<void> {
    await this.#handle.truncate(this.#headBytes);
    this.#size = this.#headBytes;
  }
}

/** Undefined when something stands there. Throws what else the system says. */
async function openNew(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

export type OpenRecord = Known & { readonly file: RecordFile };

/** What a record says, without going on with it. Never throws. */
export async function readRecord(
  path: string,
  identity: Identity,
  uid: number | undefined,
): Promise<Known | undefined> {
  const handle = await openOwn(path, constants.O_RDONLY, uid);
  if (!handle) return undefined;
  const text = await textOf(handle);
  await handle.close();
  return text === undefined ? undefined : parseRecord(text, identity);
}

/** The text of a small file; undefined when it is too large, or can't be read. */
async function textOf(handle: FileHandle): Promise<string | undefined> {
  const buffer = Buffer.alloc(MOST_RECORD_BYTES + 1);
  let length = 0;
  try {
    for (let read = 1; read > 0; length += read) {
      read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
      if (length + read > MOST_RECORD_BYTES) return undefined;
    }
    return buffer.toString('utf8', 0, length);
  } catch {
    return undefined;
  }
}
