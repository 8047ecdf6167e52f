import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BIN, workplace } from '../cli/program.ts';

/** Runs the program here, its calls of fsync in a log; `inject` makes some of them fail. */
async function traced(args: string, inject?: string) {
  const place = await workplace();
  const log = join(place.home, 'calls');
  const fault = inject === undefined ? '' : `-e inject=fsync:${inject}`;
  const line = `strace -f -y -o ${log} -e trace=fsync ${fault} ${process.execPath} ${BIN} ${args}`;
  // strace counts the calls of each thread.
  const ended = await place.shell(line, { UV_THREADPOOL_SIZE: '1' });
  const calls = await readFile(log, 'utf8');
  const flushed = [...calls.matchAll(/fsync\(\d+<([^>]*)>/g)].map(([, path]) => path);
  return { ...ended, place, flushed };
}

describe('small files are flushed (strace)', () => {
  test('a config file, its entry, and those of the folders that are made', async () => {
    const { exitCode, stderr, place, flushed } = await traced('config set jobs 2 --config a/b/config.json');
    expect(exitCode, stderr).toBe(0);
    const [above, a, file, b] = flushed;
    expect([above, a, b]).toEqual([place.path, join(place.path, 'a'), join(place.path, 'a/b')]);
    expect(file).toMatch(/config\.json\.\w+\.tmp$/);
  });

  test('where a directory knows no flush, the config file is written all the same', async () => {
    const { exitCode, stderr, place } = await traced('config set jobs 2 --config c.json', 'error=EINVAL:when=2+');
    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse((await place.read('c.json')).toString())).toMatchObject({ jobs: 2 });
  });

  test('keys, and their entries', async () => {
    const { exitCode, stderr, place, flushed } = await traced('token keygen --alg ES256 --out key.pem');
    expect(exitCode, stderr).toBe(0);
    expect(flushed).toContain(join(place.path, 'key.pem'));
    expect(flushed.at(-1)).toBe(place.path);
  });

  test('a key whose entry cannot be flushed is not kept: exit 8', async () => {
    const { exitCode, stderr, place } = await traced('token keygen --alg HS256 --out key', 'error=EIO:when=2');
    expect(exitCode, stderr).toBe(8);
    expect(await place.names()).toEqual([]);
  });
});
