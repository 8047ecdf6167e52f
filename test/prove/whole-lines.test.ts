import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { started, until } from '../cli/program.ts';
import { bundled } from '../service/checksums-processes.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-lines-'));
  return () => rm(folder, { recursive: true, force: true });
});

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const DONE = '0001234567-24-000001\t0123456789abcdef\t2024-05-01T00:00:00Z\t3\n';

/** Who appends, the line, and which read of the file is the look at its last byte. */
const APPENDERS: readonly (readonly [string, source: string, line: string, look: number])[] = [
  [
    'SHA256SUMS',
    `import { dirname } from 'node:path';
     import { appendEntry } from './src/checksums/append.ts';
     await appendEntry(dirname(process.argv[2]), { name: 'a', sha256: '${HEX}' });`,
    `${HEX}  a\n`,
    1,
  ],
  [
    'a report',
    `import { lineAppender } from './src/stdio/byte-writer.ts';
     const [path, line] = process.argv.slice(2);
     const writer = await lineAppender(path);
     await writer.write([Buffer.from(line)], new AbortController().signal);
     await writer.end();`,
    '{"v":1}\n',
    1,
  ],
  [
    'a done list',
    `import { DoneList } from './src/batch/done-list.ts';
     const [path] = process.argv.slice(2);
     const options = { path, shown: path, selection: '0123456789abcdef', now: () => Date.UTC(2024, 4, 1), readOnly: false };
     const list = await DoneList.open(options, new AbortController().signal);
     await list.add([{ accession: '0001234567-24-000001', files: 3 }]);
     await list.close();`,
    DONE,
    // Behind those of what is in it, and of its end.
    3,
  ],
];

/** It may have ended. */
function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    expect(error).toMatchObject({ code: 'ESRCH' });
  }
}

describe('a line that another process tears in front of ours, behind our look at the end', () => {
  test.each(APPENDERS)('is no part of ours, in %s', async (_name, source, line, look) => {
    const program = await bundled(folder, 'appender', source);
    const path = join(folder, 'SHA256SUMS');
    await writeFile(path, 'first\n');
    const log = join(folder, 'log');
    const stop = ['-e', 'trace=pread64', '-e', `inject=pread64:signal=SIGSTOP:when=${look}`];
    const held = ['strace', '-f', '-P', path, '-o', log, ...stop, process.execPath, program, path, line];
    const { ended } = started(held, { env: { ...process.env, UV_THREADPOOL_SIZE: '1' } });
    // strace fills short numbers up with spaces.
    const stopped = () => /^(\d+) +--- stopped by SIGSTOP/m.exec(existsSync(log) ? readFileSync(log, 'utf8') : '')?.[1];
    await until(() => stopped() !== undefined);
    await appendFile(path, 'torn');
    // Again and again: on a loaded machine one comes before all threads have stopped, and is lost on those.
    const going = setInterval(() => goOn(Number(stopped())), 20);
    const { exitCode, stderr } = await ended.finally(() => clearInterval(going));
    expect(exitCode, stderr).toBe(0);
    // It was glued to the torn one, and stands once more.
    expect(await readFile(path, 'utf8')).toBe(`first\ntorn${line}\n${line}`);
  });
});
