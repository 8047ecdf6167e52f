import * as fs from 'node:fs';
import { asked, drive, flushed, opened, requireOwnerless, requireRoom, shut, truncated, written } from './disk.ts';

// node:fs/promises for a process of a schedule.
export { constants } from 'node:fs';

type Sync<Name extends keyof typeof fs> = Extract<(typeof fs)[Name], (...args: never[]) => unknown>;

function driven<Act extends (...args: never[]) => unknown>(name: string, act: Act) {
  return (...args: Parameters<Act>): Promise<ReturnType<Act>> =>
    drive(name, args[0], () => act(...args) as ReturnType<Act>);
}

/** As above, of what makes something new. */
function making<Act extends (...args: never[]) => unknown>(name: string, act: Act) {
  return driven(name, ((...args: Parameters<Act>) => {
    requireRoom();
    return act(...args);
  }) as unknown as Act);
}

export const access = driven('access', fs.accessSync as Sync<'accessSync'>);
export const link = making('link', (from: string, to: string) => fs.linkSync(from, to));
export const lstat = driven('lstat', (path: string, options?: fs.StatSyncOptions) => fs.lstatSync(path, options));
export const mkdir = making('mkdir', (path: string, options?: fs.MakeDirectoryOptions) => fs.mkdirSync(path, options));
export const mkdtemp = making('mkdtemp', (prefix: string) => fs.mkdtempSync(prefix));
export const readdir = driven('readdir', (path: string) => fs.readdirSync(path).sort());
export const readFile = driven('readFile', (path: string, encoding?: BufferEncoding) =>
  fs.readFileSync(path, encoding),
);
export const readlink = driven('readlink', (path: string) => fs.readlinkSync(path));
export const realpath = driven('realpath', (path: string) => fs.realpathSync(path));
export const rename = driven('rename', (from: string, to: string) => {
  requireOwnerless(from);
  return fs.renameSync(from, to);
});
export const rm = driven('rm', (path: string, options?: fs.RmOptions) => fs.rmSync(path, options));
export const stat = driven('stat', (path: string, options?: fs.StatSyncOptions) => fs.statSync(path, options));
/** Of a type that nobody knows, so that no call is waited for: each is a step of its own. */
export const statfs = driven('statfs', (path: string) => ({ ...fs.statfsSync(path), type: 0 }));
export const unlink = driven('unlink', (path: string) => {
  if (fs.existsSync(path)) requireOwnerless(path);
  return fs.unlinkSync(path);
});
export const writeFile = making('writeFile', (path: string, data: string) => fs.writeFileSync(path, data));

const direntsOf = driven('opendir', (path: string, encoding: 'buffer') =>
  fs.readdirSync(path, { withFileTypes: true, encoding: encoding as BufferEncoding }),
);

export async function* opendir(path: string, { encoding }: { encoding?: 'buffer' } = {}): AsyncGenerator<unknown> {
  if (encoding) yield* await direntsOf(path, encoding);
  else for (const name of await readdir(path)) yield { name };
}

export async function open(path: string, flags: string | number = 'r', mode?: number): Promise<Handle> {
  return drive('open', path, () => {
    const creates = typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : flags !== 'r';
    const isNew = creates && !fs.existsSync(path);
    if (isNew) requireRoom();
    return new Handle(opened(fs.openSync(path, flags, mode), path, isNew));
  });
}

/** As much of a FileHandle as the program uses. */
class Handle {
  fd: number;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat = (options?: { bigint?: false }) => this.#do('stat', () => fs.fstatSync(this.fd, options));
  sync = () => this.#do('sync', () => flushed(this.fd, fs.fsyncSync));
  datasync = () => this.#do('datasync', () => flushed(this.fd, fs.fdatasyncSync));
  truncate = (length = 0) => this.#do('truncate', () => truncated(this.fd, length));
  chmod = (mode: number) => this.#do('chmod', () => fs.fchmodSync(this.fd, mode));
  chown = (uid: number, gid: number) => this.#do('chown', () => fs.fchownSync(this.fd, uid, gid));
  utimes = (read: Date, changed: Date) => this.#do('utimes', () => fs.futimesSync(this.fd, read, changed));
  readFile = (encoding?: BufferEncoding) => this.#do('readFile', () => fs.readFileSync(this.fd, encoding));
  writeFile = (data: string | Buffer) => this.#do('writeFile', () => this.#all(data));
  appendFile = (data: string | Buffer) => this.#do('appendFile', () => this.#all(data));
  read = (buffer: Buffer, offset: number, length: number, position: number | null) =>
    this.#do('read', () => ({ bytesRead: fs.readSync(this.fd, buffer, offset, length, position), buffer }));
  writev = (chunks: readonly Buffer[], position: number) =>
    this.#do('writev', () => ({ bytesWritten: written(this.fd, Buffer.concat(chunks), position), buffers: chunks }));
  write = (data: string | Buffer, ...rest: unknown[]) =>
    this.#do('write', () => ({ bytesWritten: written(this.fd, ...asked(data, ...rest)), buffer: data }));

  /** A second time is no matter, as with Node's. */
  async close(): Promise<void> {
    const { fd } = this;
    this.fd = -1;
    if (fd >= 0) await drive('close', fd, () => shut(fd));
  }

  /** In one step; what is not taken at once is tried again, as Node does. */
  #all(data: string | Buffer): void {
    for (let rest = Buffer.from(data); rest.length > 0; ) rest = rest.subarray(written(this.fd, rest));
  }

  #do<T>(name: string, act: () => T): Promise<T> {
    return drive(name, this.fd, act);
  }
}
