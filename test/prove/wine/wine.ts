// A machine with Windows, as far as Wine is one: the built program runs on Node for Windows, and its files are in a
// directory that this process reads and writes, too.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { BIN } from '../../cli/program.ts';

/** Debian's package `wine64` has its programs here, and no other name for them. */
const FOLDER = '/usr/lib/wine';
export const WINE = join(FOLDER, 'wine64');
export const hasWine = existsSync(WINE);

/** Returns an absolute path of this system as Windows writes it. */
export const windowsPath = (path: string) => `Z:${path.replaceAll('/', '\\')}`;

/** The module that Node must load before the program. */
export const KEEP_ALIVE = windowsPath(join(import.meta.dirname, 'no-keep-alive.cjs'));

/** The result of a run as the agent sends it. Its output is in base64. */
interface Reply {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  /** A path of this system. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

export type Windows = Awaited<ReturnType<typeof startWindows>>;

/** Starts a Windows of its own, with Node at `node`. The caller ends it. */
export async function startWindows(node: string) {
  const prefix = await mkdtemp(join(tmpdir(), 'filings-wine-'));
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: prefix,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
  };
  // Node refuses the Windows 7 that Wine is by itself.
  await promisify(execFile)(WINE, ['winecfg', '/v', 'win10'], { env });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const arrived = once(server, 'connection');
  const agent = spawn(WINE, [node, join(import.meta.dirname, 'agent.js'), `${port}`], { env, stdio: 'ignore' });
  const [socket] = await arrived;
  const waiting = new Map<number, (reply: Reply) => void>();
  createInterface({ input: socket }).on('line', (line) => {
    const reply = JSON.parse(line);
    waiting.get(reply.id)?.(reply);
  });
  const send = (message: object) => void socket.write(`${JSON.stringify(message)}\n`);
  const request = (action: string, more: object) => {
    const id = waiting.size;
    const replied = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    send({ action, id, ...more });
    return { id, replied };
  };

  /** Starts the program on Node for Windows. */
  function startFilings(args: readonly string[], { cwd, env = {}, input = '' }: StartOptions) {
    const bytes = Buffer.from(input as string).toString('base64');
    const words = ['--require', KEEP_ALIVE, windowsPath(BIN), ...args];
    const { id, replied } = request('start', { args: words, cwd: windowsPath(cwd), env, input: bytes });
    const ended = replied.then(({ exitCode, stdout, stderr }) => ({
      exitCode,
      stdout: Buffer.from(stdout, 'base64'),
      stderr: Buffer.from(stderr, 'base64').toString(),
    }));
    return { ended, kill: () => send({ action: 'kill', id }), closeStdout: () => send({ action: 'closeStdout', id }) };
  }

  return {
    /** The environment of Wine's programs. */
    env,
    startFilings,
    /** Another program has a file open, until `close`. */
    open: (path: string) => request('open', { path: windowsPath(path) }).replied,
    close: () => request('close', {}).replied,
    async end() {
      const ended = once(agent, 'exit');
      socket.destroy();
      await ended;
      server.close();
      await promisify(execFile)(join(FOLDER, 'wineserver'), ['-k'], { env }).catch(() => {});
      await rm(prefix, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
