import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BIN, until } from '../cli/program.ts';
import { startPaused } from '../cli/screen/held.ts';
import { CTRL_C, screen } from '../cli/screen/screen.ts';
import { readReport } from '../program/batch.ts';
import { emptyPlace } from '../program/place.ts';
import { accession, type Filings, startArchive } from '../servers/archive.ts';
import { closedPort, listens } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { hasWine, KEEP_ALIVE, type StartOptions, startWindows, WINE, type Windows, windowsPath } from './wine/wine.ts';

const { WINDOWS_VERSIONS, windowsNodeOf } = (await import(join(import.meta.dirname, '../../scripts/nodes.js'))) as {
  WINDOWS_VERSIONS: readonly string[];
  windowsNodeOf(version: string): string;
};

const A = accession(1);
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

  /** A place in which the program runs, whose home is a Windows user's. */
  async function workplace(usual: Readonly<Record<string, string>> = {}) {
    const place = await emptyPlace();
    const home = { USERPROFILE: windowsPath(place.home), APPDATA: windowsPath(place.at('../settings')) };
    const start = (args: readonly string[], { env, ...more }: Partial<StartOptions> = {}) =>
      windows.startFilings(args, { cwd: place.path, ...more, env: { ...home, ...usual, ...env } });
    return { ...place, start, filings: (...[args, more]: Parameters<typeof start>) => start(args, more).ended };
  }

  /** A place beside a service. */
  async function asking(filings: Filings) {
    const archive = await startArchive(filings);
    return { archive, ...(await workplace(archive.env)) };
  }

  test('writes slashes into its report and into what verify finds, which repairs the mirror', async () => {
    const { archive, filings, read, write } = await asking(FILES);
    await write('in.txt', `\ufeff${A}\r\n`);
    const mirror = 'download -i in.txt --all -d mirror --checksums --done done --report r.jsonl'.split(' ');
    expect(await filings(mirror)).toMatchObject({ exitCode: 0 });
    const paths = readReport(await read('r.jsonl')).files.map(({ path }) => path);
    expect(paths.sort()).toEqual([`mirror/${A}/a.htm`, `mirror/${A}/b.htm`]);
    const again = await filings(['download', A, '--all', '-d', 'mirror', '--if-exists', 'skip']);
    expect([again.exitCode, archive.asked().slice(3)], again.stderr).toEqual([0, [A]]);

    await write(`mirror/${A}/a.htm`, 'changed');
    const { exitCode, stdout } = await filings(['verify', 'mirror', '--json']);
    const changed = { path: `mirror/${A}/a.htm`, result: 'changed', accession_no: A, file_name: 'a.htm' };
    expect([exitCode, readReport(stdout).files[0]]).toMatchObject([9, changed]);
    const repair = 'download -i - -d mirror --checksums --if-exists overwrite'.split(' ');
    expect(await filings(repair, { input: stdout })).toMatchObject({ exitCode: 0 });
    expect(`${await read(`mirror/${A}/a.htm`)}`).toBe('one');
  });

  test('refuses names that lead out of the directory or that Windows does not allow, each alone', async () => {
    const refused = ['..\\secret.htm', 'C:secret.htm', 'nul.htm', 'a.htm:b', 'a?.htm', 'a|b.htm'];
    const files = Object.fromEntries([...refused, 'good.htm'].map((name) => [name, name]));
    const { filings, read, names } = await asking({ [A]: files });
    const { exitCode, stderr } = await filings(['download', A, '--all', '-d', 'd/e']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('6 failed')]);
    expect([await names(), `${await read(`d/e/${A}/good.htm`)}`]).toEqual([['d'], 'good.htm']);
  });

  test('writes to stdout byte by byte, to a pipe that another program closes, and to NUL', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const { filings, start, names } = await asking({ [A]: { 'a.bin': bytes, 'l.bin': content(3_000_000) } });
    const whole = await filings(['download', A, 'a.bin', '-o', '-']);
    expect([whole.exitCode, whole.stdout.equals(bytes)]).toEqual([0, true]);
    for (const output of ['nul', '\\\\.\\NUL']) {
      const { exitCode, stdout } = await filings(['download', A, 'l.bin', '-o', output, '--report', 'NUL']);
      expect([output, exitCode, stdout.length]).toEqual([output, 0, 0]);
    }
    const closed = start(['download', A, 'l.bin', '-o', '-']);
    closed.closeStdout();
    expect(await closed.ended).toMatchObject({ exitCode: 141, stderr: '' });
    expect(await names()).toEqual([]);
  });

  test('does not replace a file that another program has open, and leaves no part', async () => {
    const { filings, write, read, names } = await asking({ [A]: { 'a.htm': 'new', 'b.htm': 'b' } });
    await windows.open(await write('a.htm', 'old'));
    const over = (...files: string[]) => filings(['download', A, ...files, '--if-exists', 'overwrite']);
    const [single, several] = [await over('a.htm'), await over('a.htm', 'b.htm')];
    await windows.close();
    expect([single.exitCode, single.stderr]).toEqual([8, expect.stringContaining('another program has it open')]);
    expect([several.exitCode, await names(), `${await read('a.htm')}`]).toEqual([3, ['a.htm', 'b.htm'], 'old']);
    expect([(await over('a.htm')).exitCode, `${await read('a.htm')}`]).toEqual([0, 'new']);
  });

  test('writes to paths of more than 260 characters', async () => {
    const { filings, read } = await asking(FILES);
    const [above, ...below] = ['x'.repeat(100), 'y'.repeat(100), 'z'.repeat(100)] as const;
    const directory = [above, ...below].join('/');
    expect(await filings(['download', A, '--all', '-d', directory, '--checksums'])).toMatchObject({ exitCode: 0 });
    expect(`${await read(`${directory}/${A}/a.htm`)}`).toBe('one');
    // Wine cannot tell the real path of a path that is so long.
    const { exitCode, stderr } = await filings(['verify', above]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('2 of 2')]);
  });

  test('keeps its settings in APPDATA, takes ~/ for USERPROFILE, and runs apiKeyCommand', async () => {
    const { archive, at, read, write, filings: run } = await asking(FILES);
    const filings = (...args: string[]) => run(args, { env: { FILINGS_BASE_URL: '', FILINGS_API_KEY: '' } });
    const config = at('../settings/filings/config.json');
    expect(await filings('config', 'set', 'base-url', archive.url)).toMatchObject({ exitCode: 0 });
    expect(await filings('config', 'set', 'api-key-file', '~/key')).toMatchObject({ exitCode: 0 });
    await write('../key', 'a-key\r\n');
    expect(JSON.parse(`${await read(config)}`)).toMatchObject({ baseUrl: archive.url, apiKeyFile: '~/key' });
    expect(`${(await filings('config', 'path')).stdout}`.trim()).toBe(windowsPath(config));
    expect(`${(await filings('list', A)).stdout}`).toBe('a.htm\nb.htm\n');

    const useCommand = (...apiKeyCommand: string[]) =>
      write(config, JSON.stringify({ baseUrl: archive.url, apiKeyCommand }));
    await write('key.cmd', '@echo a-key\r\n');
    await useCommand('cmd.exe', '/c', 'key.cmd');
    expect(await filings('list', A)).toMatchObject({ exitCode: 0 });
    await useCommand('.\\key.cmd');
    const { exitCode, stderr } = await filings('list', A);
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
    await until(() => listens(port));
    const url = `http://127.0.0.1:${port}`;
    for (const name of ['..\\..\\secret.htm', 'a.htm::$DATA', 'NUL', 'a.htm.']) {
      const address = `${url}/v1/download?accession_no=${A}&file_name=${encodeURIComponent(name)}`;
      const { status } = await fetch(address, { headers: { Authorization: 'sandbox-key' } });
      expect([name, status]).toEqual([name, 400]);
    }
    const env = { FILINGS_BASE_URL: url, FILINGS_API_KEY: 'sandbox-key' };
    expect(`${(await filings(['list', A], { env })).stdout}`).toBe('a.htm\n');
  });

  test('shows a bar on a console, and keeps what can be resumed after Ctrl-C', async () => {
    const service = await startPaused();
    // In a variable, since Wine's cmd.exe takes no quoted path as an argument.
    const run = `"${windowsPath(node)}" --require "${KEEP_ALIVE}" "${windowsPath(BIN)}" download ${A} a.htm`;
    const at = await screen([], {
      env: { ...windows.env, ...service.env, RUN: run },
      size: { columns: 120, rows: 20 },
      // Ctrl-C ends cmd.exe at once, and the console ends with the shell that it belongs to.
      // Node 22 fails on a console of Wine that has no title.
      script: `${WINE} cmd.exe /c 'title t & %RUN%'; read`,
    });
    await at.shows((lines) => lines.some((line) => line.includes('66%')));
    at.type(CTRL_C);
    await at.shows((lines) => lines.includes('filings: interrupted: SIGINT'));
    expect(at.lines()[0]).toMatch(/^a\.htm: stopped at 2\.0 MB/);
    expect(await readdir(at.path)).toEqual(['.a.htm.filings-resume']);
  });
});
