import { close, constants, lstatSync, open } from 'node:fs';
import { promisify } from 'node:util';
import { type ByteText, bytesOf } from '../../../disk/byte-text.ts';

const openAt = promisify(open);
const closeFd = promisify(close);
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * A directory held open as long as somebody uses it, so that one that is swapped for a link meanwhile changes nothing:
 * on Linux its entries are reached through `/proc/self/fd`, also by threads, elsewhere by path.
 */
export class HeldDirectory {
  /** For system calls. */
  readonly path: ByteText;
  readonly #fd: number;
  #users = 1;

  private constructor(fd: number, path: ByteText) {
    this.#fd = fd;
    this.path = viaProc(fd) ?? path;
  }

  /** A directory that somebody named: links on the way to it are the user's own. Throws what the file system says. */
  static async open(path: ByteText): Promise<HeldDirectory> {
    return new HeldDirectory(await openAt(bytesOf(path), O_RDONLY | O_DIRECTORY | O_NONBLOCK), path);
  }

  /** A directory in this one; no link is followed. Throws what the file system says. */
  async child(name: ByteText): Promise<HeldDirectory> {
    const path = `${this.path}/${name}`;
    return new HeldDirectory(await openAt(bytesOf(path), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW), path);
  }

  readonly entry = (name: ByteText): Buffer => bytesOf(`${this.path}/${name}`);

  use(): void {
    this.#users += 1;
  }

  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users === 0) await closeFd(this.#fd);
  }
}

function viaProc(fd: number): ByteText | undefined {
  const path = `/proc/self/fd/${fd}`;
  return lstatSync(`${path}/.`, { throwIfNoEntry: false }) === undefined ? undefined : path;
}
