import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { sleep } from '../../src/abort.ts';
import { main } from '../../src/main.ts';
import { worldOf } from '../settings-world.ts';

/** The result of `filings` for an exchange. */
export interface OurVerdict {
  readonly exit: number;
  /** Code of the error, or empty on success. */
  readonly code: string;
  readonly words: string;
  /** Content of the file, if it exists. */
  readonly bytes: Buffer | undefined;
}

/** Far longer than any exchange, so that a run that reaches it hangs. */
const DEADLINE = '30s';
// Each run looks like a process to the others. Its PID is above all real ones and exists until the run has ended.
const running = new Set<number>();
let lastPid = 2 ** 22;

/** Downloads a file into a directory with the program in this process. Retries follow without a wait. */
export async function byFilings(url: string, name: string, directory: string, retries = 0): Promise<OurVerdict> {
  lastPid += 1;
  const pid = lastPid;
  running.add(pid);
  const stderr: string[] = [];
  const flags = ['--error-format', 'json', '--quiet', '--retries', `${retries}`, '--deadline', DEADLINE];
  const exit = await main(
    worldOf({
      argv: [...flags, 'download', '0001234567-24-000001', name],
      env: { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'a-key', HOME: directory, PATH: '' },
      cwd: directory,
      pid,
      isRunning: (other) => running.has(other),
      stdin: Readable.from([]),
      stdout: new Writable({ write: (_chunk, _encoding, done) => done() }),
      stderr: new Writable({
        write: (chunk, _encoding, done) => {
          stderr.push(String(chunk));
          done();
        },
      }),
      // Back-offs take no time. Deadlines and the limit for an error body keep theirs.
      sleep: (ms, signal) => sleep(ms === 5000 || ms > 29_000 ? ms : 0, signal),
    }),
  );
  running.delete(pid);
  const last = stderr.join('').trim().split('\n').at(-1);
  const { code = '', message = '' } = exit === 0 || !last ? {} : JSON.parse(last).error;
  const present = (await readdir(directory)).includes(name);
  return { exit, code, words: message, bytes: present ? await readFile(join(directory, name)) : undefined };
}
