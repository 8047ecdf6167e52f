import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BIN, until } from '../cli/program.ts';
import { startPaused } from '../cli/screen/held.ts';
import { CTRL_C, screen } from '../cli/screen/screen.ts';
import { emptyPlace } from '../program/place.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { closedPort, listens } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { hasWine, KEEP_ALIVE, startWindows, WINE, type Windows, windowsPath } from './wine/wine.ts';

const { WINDOWS_VERSIONS, windowsNodeOf } = (await import(join(import.meta.dirname, '../../scripts/nodes.js'))) as {
  WINDOWS_VERSIONS: readonly string[];
  windowsNodeOf(version: string): string;
};

const A = accession(1);
const LARGE = content(3_000_000);
const FILES = { [A]: { 'a.htm': 'one', 'b.htm': content(100_000) } };

test('Wine is installed wherever everything must be proved', () => {
  expect(hasWine || process.env.CI === undefined).toBe(true);
});

describe.runIf(hasWine).each([...WINDOWS_VERSIONS])('on Windows, by Wine, with Node %s', (version) => {
  let node: string;
  let windows: Windows;
  beforeAll(async () => {
    node = windowsNodeOf(version);
    windows = await startWindows(node);
  });
  afterAll(() => windows?.end());

  type Options = Partial<Parameters<Windows['startFilings']>[1]>;

  /** A place in which the program runs, whose home is a Windows user's. */
  async function workplace(usual: Readonly<Record<string, string>> = {}) {
    const place = await emptyPlace();
    const home = { USERPROFILE: windowsPath(place.home), APPDATA: windowsPath(place.at('../settings')) };
    const start = (args: readonly string[], { env, ...more }: Options = {}) =>
      windows.startFilings(args, { cwd: place.path, ...more, env: { ...home, ...usual, ...env } });
    const filings = (args: readonly string[], more?: Options) => start(args, more).ended;
    return { ...place, start, filings };
  }

  /** A place beside a service. */
  async function asking(...args: Parameters<typeof startArchive>) {
    const archive = await startArchive(...args);
    return { archive, ...(await workplace(archive.env)) };
  }

  test('writes slashes into the report of a mirror and into what verify finds, which repairs it', async () => {
    const { archive, filings, read, write } = await asking(FILES);
    await write('in.txt', `\ufeff${A}\r\n`);
    const mirror = 'download -i in.txt --all -d mirror --checksums --done done --report r.jsonl'.split(' ');
    expect(await filings(mirror)).toMatchObject({ exitCode: 0 });
    expect(
      jsonLines(await read('r.jsonl'))
        .map(({ path }) => path)
        .sort(),
    ).toEqual([`mirror/${A}/a.htm`, `mirror/${A}/b.htm`, undefined]);
    const asked = archive.asked().length;
    const again = await filings(['download', A, '--all', '-d', 'mirror', '--if-exists', 'skip']);
    expect([again.exitCode, archive.asked().slice(asked)], again.stderr).toEqual([0, [A]]);
    expect(await filings(mirror)).toMatchObject({ exitCode: 0 });
    expect(archive.asked()).toHaveLength(asked + 1);

    await write(`mirror/${A}/a.htm`, 'changed');
    const found = await filings(['verify', 'mirror', '--json']);
    const changed = { path: `mirror/${A}/a.htm`, result: 'changed', accession_no: A, file_name: 'a.htm' };
    expect([found.exitCode, jsonLines(found.stdout)[0]]).toMatchObject([9, changed]);
    const repair = 'download -i - -d mirror --checksums --if-exists overwrite'.split(' ');
    const repaired = await filings(repair, { input: found.stdout });
    expect([repaired.exitCode, repaired.stderr]).toEqual([0, expect.any(String)]);
    expect((await read(`mirror/${A}/a.htm`)).toString()).toBe('one');
  });

  test('refuses names that lead out of the directory or that Windows does not allow, each alone', async () => {
    const names = ['..\\secret.htm', 'C:secret.htm', 'nul.htm', 'a.htm:b', 'a?.htm', 'a|b.htm', 'good.htm'];
    const {
      filings,
      at,
      names: inPlace,
    } = await asking({ [A]: Object.fromEntries(names.map((name) => [name, name])) });
    const { exitCode, stderr } = await filings(['download', A, '--all', '-d', 'd/e']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('6 failed')]);
    expect(stderr).toContain('Windows does not allow');
    expect(await inPlace()).toEqual(['d']);
    expect(await readFile(at(`d/e/${A}/good.htm`), 'utf8')).toBe('good.htm');
    const typed = await filings(['download', A, 'a?.htm']);
    expect([typed.exitCode, typed.stderr]).toEqual([2, expect.stringContaining('Windows does not allow')]);
  });

  test('writes to stdout byte by byte, to a pipe that another program closes, and to NUL', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { filings, start, names } = await asking({ [A]: { 'a.bin': bytes, 'l.bin': LARGE } });
    const whole = await filings(['download', A, 'a.bin', '-o', '-']);
    expect([whole.exitCode, whole.stdout.equals(bytes)]).toEqual([0, true]);
    for (const output of ['NUL', 'nul', '\\\\.\\NUL']) {
      const nowhere = await filings(['download', A, 'l.bin', '-o', output, '--report', 'NUL']);
      expect([nowhere.exitCode, nowhere.stderr, nowhere.stdout.length]).toEqual([0, expect.any(String), 0]);
    }
    const closed = start(['download', A, 'l.bin', '-o', '-']);
    closed.closeStdout();
    expect(await closed.ended).toMatchObject({ exitCode: 141, stderr: '' });
    expect(await names()).toEqual([]);
  });

  test('refuses to replace a file that another program has open, and leaves no part', async () => {
    const { filings, write, read, names } = await asking({ [A]: { 'a.htm': 'new', 'b.htm': 'b' } });
    const path = await write('a.htm', 'old');
    await windows.open(path);
    const single = await filings(['download', A, 'a.htm', '--if-exists', 'overwrite']);
    const several = await filings(['download', A, 'a.htm', 'b.htm', '--if-exists', 'overwrite']);
    await windows.close();
    expect([single.exitCode, single.stderr]).toEqual([8, expect.stringContaining('another program has it open')]);
    expect([several.exitCode, several.stderr]).toEqual([3, expect.stringContaining('1 failed')]);
    expect([await names(), (await read('a.htm')).toString()]).toEqual([['a.htm', 'b.htm'], 'old']);
    const later = await filings(['download', A, 'a.htm', '--if-exists', 'overwrite']);
    expect([later.exitCode, (await read('a.htm')).toString()]).toEqual([0, 'new']);
  });

  test('waits for a program that has a file open for a moment', async () => {
    const { filings, write, read } = await asking(
      { [A]: { 'a.htm': 'new' } },
      {
        instead() {
          setTimeout(() => windows.close(), 300);
          return undefined;
        },
      },
    );
    await windows.open(await write('a.htm', 'old'));
    const { exitCode, stderr } = await filings(['download', A, 'a.htm', '--if-exists', 'overwrite']);
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    expect((await read('a.htm')).toString()).toBe('new');
  });

  test('writes to paths of more than 260 characters', async () => {
    const { filings, read } = await asking(FILES);
    const [above, ...below] = ['x'.repeat(100), 'y'.repeat(100), 'z'.repeat(100)];
    const directory = [above, ...below].join('/');
    const args = ['download', A, '--all', '-d', directory, '--checksums'];
    expect(await filings(args)).toMatchObject({ exitCode: 0 });
    expect((await read(`${directory}/${A}/a.htm`)).toString()).toBe('one');
    // Wine cannot tell the real path of a path that is so long.
    const verified = await filings(['verify', `${above}`]);
    expect([verified.exitCode, verified.stderr]).toEqual([0, expect.stringContaining('2 of 2')]);
  });

  test('keeps its settings in APPDATA, and takes ~/ for USERPROFILE', async () => {
    const { archive, filings, at, write } = await asking(FILES);
    const env = { FILINGS_BASE_URL: '', FILINGS_API_KEY: '' };
    const config = at('../settings/filings/config.json');
    expect(await filings(['config', 'set', 'base-url', archive.url], { env })).toMatchObject({ exitCode: 0 });
    expect(await filings(['config', 'set', 'api-key-file', '~/key'], { env })).toMatchObject({ exitCode: 0 });
    await write('../key', 'a-key\r\n');
    expect(JSON.parse(await readFile(config, 'utf8'))).toMatchObject({ baseUrl: archive.url, apiKeyFile: '~/key' });
    const path = await filings(['config', 'path'], { env });
    expect(path.stdout.toString().trim()).toBe(windowsPath(config));
    const listed = await filings(['list', A], { env });
    expect([listed.exitCode, listed.stdout.toString()]).toEqual([0, 'a.htm\nb.htm\n']);
    const checked = await filings(['config', 'check', A], { env });
    expect([checked.exitCode, checked.stderr]).toEqual([0, expect.any(String)]);
  });

  test('runs apiKeyCommand, and says what to do about a script of cmd.exe', async () => {
    const { archive, filings, write } = await asking(FILES);
    const env = { FILINGS_API_KEY: '', FILINGS_BASE_URL: '', FILINGS_CONFIG: 'c.json' };
    const listWith = async (...apiKeyCommand: string[]) => {
      await write('c.json', JSON.stringify({ baseUrl: archive.url, apiKeyCommand }));
      return filings(['list', A], { env });
    };
    await write('key.cmd', '@echo a-key\r\n');
    expect(await listWith('cmd.exe', '/c', 'key.cmd')).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await listWith('.\\key.cmd');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('a script of cmd.exe')]);
  });

  test('serves a directory, and nothing beside it', async () => {
    const { start, filings, write } = await workplace();
    await write(`served/${A}/a.htm`, 'served');
    await write('secret.htm', 'secret');
    const port = await closedPort();
    const server = start(['serve', 'served', '--port', `${port}`]);
    onTestFinished(async () => {
      server.kill();
      await server.ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await until(() => listens(port));
    const headers = { Authorization: 'sandbox-key' };
    for (const name of ['..\\..\\secret.htm', 'a.htm::$DATA', 'NUL', 'a.htm.']) {
      const address = `${url}/v1/download?accession_no=${A}&file_name=${encodeURIComponent(name)}`;
      expect([name, (await fetch(address, { headers })).status]).toEqual([name, 400]);
    }
    const env = { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'sandbox-key' };
    expect((await filings(['list', A], { env })).stdout.toString()).toBe('a.htm\n');
  });

  test('shows a bar on a console, and keeps what can be resumed after Ctrl-C', async () => {
    const service = await startPaused();
    // Node 22 fails on a console of Wine that has no title.
    const command = `title t & ${windowsPath(node)} --require ${KEEP_ALIVE} ${windowsPath(BIN)} download ${A} a.htm`;
    const at = await screen([], {
      env: { ...windows.env, ...service.env },
      size: { columns: 120, rows: 20 },
      // Ctrl-C ends cmd.exe at once, and the console ends with the shell that it belongs to.
      script: `${WINE} cmd.exe /c '${command}'; read`,
    });
    await at.shows((lines) => lines.some((line) => line.includes('66%')));
    at.type(CTRL_C);
    await at.shows((lines) => lines.includes('filings: interrupted: SIGINT'));
    expect(at.lines()[0]).toBe('a.htm: stopped at 2.0 MB; run the same command to resume');
    expect(await readdir(at.path)).toEqual(['.a.htm.filings-resume']);
  });
});

function jsonLines(bytes: Buffer): { path?: string }[] {
  const lines = bytes.toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}
