import {
  close,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  open,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { link, lstat, rename, statfs, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { errnoOf } from '../errors.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
/** A file that nobody else has, nor had. */
const NEW = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;

/**
 * File systems on a disk of this machine, or in its memory, by the number that Linux gives them (statfs(2),
 * linux/magic.h). Where one of these hangs, a thread of the pool hangs in the kernel just as well.
 */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs, in containers
]);

const openLater = promisify(open) as (path: string, flags: number, mode: number) => Promise<number>;
const closeLater = promisify(close);

/**
 * System calls on names. To hand one to the pool of threads costs ten times the call itself, so on a local disk they are
 * made at once, and by the pool elsewhere. Errors are the system's own.
 */
export class Disk {
  readonly isLocal: boolean;

  constructor(isLocal: boolean) {
    this.isLocal = isLocal;
  }

  /** The disk that a directory is on. Only Linux tells what it is. Never throws. */
  static async under(directory: string, platform: string): Promise<Disk> {
    const found = platform === 'linux' ? await statfs(directory).catch(() => undefined) : undefined;
    return new Disk(found !== undefined && isLocalType(found.type));
  }

  /** Makes a file that must not exist, open for reading and writing; gives its descriptor. */
  async create(path: string, mode: number): Promise<number> {
    return this.isLocal ? openSync(path, NEW, mode) : openLater(path, NEW, mode);
  }

  async close(fd: number): Promise<void> {
    return this.isLocal ? closeSync(fd) : closeLater(fd);
  }

  /** What has a name, no link followed; undefined where nothing does. */
  async look(path: string): Promise<Stats | undefined> {
    return this.isLocal ? lstatSync(path, { throwIfNoEntry: false }) : lstat(path).catch(undefinedIfMissing);
  }

  async link(from: string, to: string): Promise<void> {
    return this.isLocal ? linkSync(from, to) : link(from, to);
  }

  async rename(from: string, to: string): Promise<void> {
    return this.isLocal ? renameSync(from, to) : rename(from, to);
  }

  async unlink(path: string): Promise<void> {
    return this.isLocal ? unlinkSync(path) : unlink(path);
  }

  /** As `unlink`, but a name that does not exist is none to remove. */
  async remove(path: string): Promise<void> {
    await this.unlink(path).catch(undefinedIfMissing);
  }
}

/** Whether a file system of this type (statfs(2), of Linux) is on this machine; some systems give it with a sign. */
export function isLocalType(type: number): boolean {
  return LOCAL.has(type >>> 0);
}

function undefinedIfMissing(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
