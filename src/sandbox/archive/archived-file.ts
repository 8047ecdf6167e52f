import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** A file held open: what is sent of it is one state of it, or is cut off. */
export class ArchivedFile {
  readonly #handle: FileHandle;
  readonly #stats: BigIntStats;

  constructor(handle: FileHandle, stats: BigIntStats) {
    this.#handle = handle;
    this.#stats = stats;
  }

  /** Bytes. */
  get size(): number {
    return Number(this.#stats.size);
  }

  /** Strong: the time of change can't be set by hand, and a replaced file has another inode. */
  get etag(): string {
    const { ino, size, mtimeNs, ctimeNs } = this.#stats;
    return `"${[ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')}"`;
  }

  /** Milliseconds since the epoch. */
  get modifiedAt(): number {
    return Number(this.#stats.mtimeMs);
  }

  /**
   * Reads `length` bytes from an offset, in chunks, none before the one before it is taken.
   * Throws instead of handing over the last chunk when the file was written to meanwhile.
   */
  async *read(offset: number, length: number): AsyncGenerator<Buffer> {
    const end = offset + length;
    for (let position = offset; position < end; ) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
      const { bytesRead } = await this.#handle.read(chunk, 0, chunk.length, position);
      position += bytesRead;
      if (bytesRead === 0 || (position === end && (await this.#wasWritten()))) {
        throw new Error('the file changed while it was being sent');
      }
      yield chunk.subarray(0, bytesRead);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #wasWritten(): Promise<boolean> {
    const { size, mtimeNs } = await this.#handle.stat({ bigint: true });
    return size !== this.#stats.size || mtimeNs !== this.#stats.mtimeNs;
  }
}
