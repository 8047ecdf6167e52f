import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Forgives nothing: no order between data and names, no flush that nobody asked for, a journal each second. */
const UNFORGIVING = 'data=writeback,noauto_da_alloc,commit=1';
const DISK_BYTES = 96 << 20;

/**
 * A disk of its own: ext4 in an image, which is a file on a second file system, also in an image. The second one can be
 * frozen: then no write of the first reaches its image, none is half in it, and none of what the first still holds in memory
 * is written, for it is not the first that is frozen. A copy of the image made meanwhile is what a power cut would leave.
 */
export class DiskImage {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws where images can't be mounted. */
  static async make(): Promise<DiskImage> {
    const disk = new DiskImage(await mkdtemp(join(tmpdir(), 'filings-disk-')));
    try {
      await mkdir(disk.path);
      await mkdir(disk.#below);
      // No journal: nothing is to be recovered here.
      image(disk.#file('below.img'), 2 * DISK_BYTES, ['-O', '^has_journal']);
      mount(disk.#file('below.img'), disk.#below, 'defaults');
      return disk;
    } catch (error) {
      await disk.remove();
      throw error;
    }
  }

  /** Where it is mounted. */
  get path(): string {
    return this.#file('disk');
  }

  get #below(): string {
    return this.#file('below');
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }

  /**
   * An empty disk, mounted. `late`: a file has its new size only when its bytes are written back; else the size may be on
   * disk seconds before the bytes.
   */
  fresh(late: boolean): void {
    const file = join(this.#below, 'disk.img');
    image(file, DISK_BYTES);
    mount(file, this.path, late ? UNFORGIVING : `${UNFORGIVING},nodelalloc,dioread_lock`);
  }

  /** What would be on the disk if the power went now. Gives the copy. */
  cut(name: string): string {
    const copy = this.#file(`${name}.img`);
    run('fsfreeze', '--freeze', this.#below);
    try {
      run('cp', '--sparse=always', join(this.#below, 'disk.img'), copy);
    } finally {
      run('fsfreeze', '--unfreeze', this.#below);
    }
    return copy;
  }

  /** Mounts a copy in the disk's place: its journal is recovered. */
  back(copy: string): void {
    mount(copy, this.path, UNFORGIVING);
  }

  unmount(): void {
    run('umount', this.path);
  }

  async remove(): Promise<void> {
    for (const path of [this.path, this.#below]) {
      try {
        // Lazily: the loop device below lets go of its image a moment later.
        run('umount', '--lazy', path);
      } catch {
        // It is not mounted.
      }
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function image(file: string, bytes: number, options: readonly string[] = []): void {
  run('rm', '-f', file);
  run('truncate', '--size', `${bytes}`, file);
  run('mkfs.ext4', '-q', ...options, file);
}

function mount(file: string, path: string, options: string): void {
  run('mount', '-o', `loop,${options}`, file, path);
}

function run(file: string, ...args: string[]): void {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
