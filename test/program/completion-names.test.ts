import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Script, startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const NAMES = ['a.htm', 'b.htm'];
const listing: Script = (socket) => {
  const body = JSON.stringify(NAMES);
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
};
const OFFERED = 'a.htm\nb.htm\n';

async function place(script: Script = listing) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  const here = await workplace();
  const kept = join(here.home, '.cache/filings/names');
  return {
    ...here,
    server,
    kept,
    /** What is offered behind a line; it says nothing else, and never fails. */
    async names(words: readonly string[], env: Record<string, string> = serviceAt(server.url)): Promise<string> {
      const ended = await here.filings(['completion', '--names', 'bash', '--', ...words, ''], env, {
        input: 'stdin-key\n',
      });
      expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({ exitCode: 0, stderr: '' });
      return ended.stdout.toString();
    },
    config: async (config: object, mode = 0o600) => {
      const path = join(here.home, 'config.json');
      await writeFile(path, JSON.stringify(config));
      await chmod(path, mode);
      return path;
    },
  };
}
const LINE = ['download', ACCESSION];

describe('the names of a filing are asked for', () => {
  test('with the settings of environment, line and config file', async () => {
    const { names, server, config } = await place();
    expect(await names(LINE)).toBe(OFFERED);
    expect(await names(['--base-url', server.url, '--api-key=b-key', ...LINE], {})).toBe(OFFERED);
    const path = await config({ profiles: { p: { baseUrl: server.url, apiKey: 'c-key' } } });
    expect(await names(['--config', path, ...LINE, '--profile', 'p'], {})).toBe(OFFERED);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['a-key', 'b-key', 'c-key']);
    expect(await names(['--sandbox', ...LINE], {})).toContain('primary.htm\n');
  });

  test('once: then from what was kept, by its owner alone', async () => {
    const { names, server, kept, home } = await place();
    expect([await names(LINE), await names(LINE), await names([...LINE, 'a.htm'])]).toEqual([
      OFFERED,
      OFFERED,
      'b.htm\n',
    ]);
    expect(server.requests.length).toBe(1);
    const [file = '', ...others] = await readdir(kept);
    expect(others).toEqual([]);
    const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect([await mode(join(home, '.cache/filings')), await mode(kept), await mode(join(kept, file))]).toEqual([
      '700',
      '700',
      '600',
    ]);
    expect(await readFile(join(kept, file), 'utf8')).not.toContain('a-key');
  });

  test.each([
    ['who asks is another', async () => ({ FILINGS_API_KEY: 'other' })],
    ['the config file has changed', async ({ config }) => void (await config({ jobs: 3 }))],
    ['it is old', async ({ file }) => utimes(file, new Date(), new Date(Date.now() - 301_000))],
    ['it is of the future', async ({ file }) => utimes(file, new Date(), new Date(Date.now() + 60_000))],
    ['others can read it', async ({ file }) => chmod(file, 0o644)],
    ['others can write the directory', async ({ kept }) => chmod(kept, 0o777)],
    ['it is a link', async ({ file }) => rename(file, `${file}.x`).then(() => symlink(`${file}.x`, file))],
    ['it is no answer', async ({ file }) => writeFile(file, '{"names":[1]}')],
    [
      'it is a pipe',
      async ({ file }) => rename(file, `${file}.x`).then(() => void execFileSync('mkfifo', ['-m', '600', file])),
    ],
  ] satisfies [
    string,
    (at: { file: string; kept: string; config: (one: object) => Promise<string> }) => Promise<unknown>,
  ][])('again where %s', async (_, change) => {
    const { names, server, kept, config } = await place();
    const env = { ...serviceAt(server.url), FILINGS_CONFIG: await config({}) };
    await names(LINE, env);
    const [file = ''] = await readdir(kept);
    const more = await change({ file: join(kept, file), kept, config });
    expect(await names(LINE, { ...env, ...(more as object) })).toBe(OFFERED);
    expect(server.requests.length).toBe(2);
  });

  test('not where it is turned off meanwhile, nor for another profile', async () => {
    const { names, server, config } = await place();
    const path = await config({
      profiles: { p: { baseUrl: server.url, apiKey: 'p-key' }, q: { completeNames: false } },
    });
    const env = { ...serviceAt(server.url), FILINGS_CONFIG: path };
    expect(await names(LINE, env)).toBe(OFFERED);
    expect(await names(LINE, { ...env, FILINGS_COMPLETE_NAMES: '0' })).toBe('');
    expect(await names([...LINE, '--profile', 'q'], env)).toBe('');
    expect(server.requests.length).toBe(1);
    expect(await names([...LINE, '--profile', 'p'], { FILINGS_CONFIG: path })).toBe(OFFERED);
    expect(server.requests.length).toBe(2);
  });

  test('and few answers are kept, old ones not at all', async () => {
    const { names, kept } = await place();
    await names(LINE);
    const [first = ''] = await readdir(kept);
    await utimes(join(kept, first), new Date(0), new Date(0));
    for (let index = 10; index < 45; index += 1) await names(['download', `0001234567-24-0000${index}`]);
    const files = await readdir(kept);
    expect(files.length).toBe(32);
    expect(files).not.toContain(first);
  });
});

describe('nothing is offered, and nobody asked,', () => {
  test.each([
    ['where the setting says so', [], { FILINGS_COMPLETE_NAMES: '0' }],
    ['where the key comes from stdin', ['--api-key-file', '-'], { FILINGS_API_KEY: '' }],
    ['where the key file is a device', ['--api-key-file', '/dev/stdin'], { FILINGS_API_KEY: '' }],
    ['where the config file is a device', ['--config', '/dev/tty'], {}],
    ['where a setting is one that only the shell could read', ['--profile', '$PROFILE'], {}],
    ['where a setting is wrong', [], { FILINGS_JOBS: 'many' }],
    ['beside --all', ['--all'], {}],
  ])('%s', async (_, flags, env) => {
    const { names, server } = await place();
    expect(await names([...LINE, ...flags], { ...serviceAt(server.url), ...env })).toBe('');
    expect(server.requests.length).toBe(0);
  });

  test.each([
    ['where completeNames is false', { apiKey: 'a-key', completeNames: false }, 0o600],
    ['where apiKeyCommand would run', { apiKeyCommand: ['touch', 'ran'] }, 0o600],
    ['where others can write the config file', { apiKey: 'a-key' }, 0o666],
  ])('%s', async (_, settings, mode) => {
    const here = await place();
    const path = await here.config({ baseUrl: here.server.url, ...settings }, mode);
    expect(await here.names(LINE, { FILINGS_CONFIG: path })).toBe('');
    expect(here.server.requests.length).toBe(0);
    expect(await here.names(['config', 'set', 'profile'], { FILINGS_CONFIG: path })).toBe('');
    expect(await here.filings([]).then(() => readdir(here.path))).toEqual([]);
  });
});

describe('a failure is silent', () => {
  test.each<[string, Script]>([
    ['a service that never answers', () => {}],
    ['one that answers without end', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[')],
    ['a 401', (socket) => void socket.end('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n')],
    ['a 503, once', (socket) => void socket.end('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n')],
    ['no listing', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\u001b]0;x\u0007')],
  ])('%s', async (_, script) => {
    const { names, server, kept } = await place(script);
    expect(await names(LINE)).toBe('');
    expect(server.requests.length).toBe(1);
    expect(await readdir(kept).catch(() => [])).toEqual([]);
  });

  test('names that a terminal would act on are left out', async () => {
    const body = JSON.stringify(['x\u001b[31m.htm', 'y\n.htm', '\u202ez.htm', 'good.htm']);
    const { names } = await place((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    expect([await names(LINE), await names(LINE)]).toEqual(['good.htm\n', 'good.htm\n']);
  });
});

test('profiles are those of the line’s config file, and of one to be trusted', async () => {
  const { filings, config } = await place();
  const path = await config({ profiles: { 'wo rk': {}, test: {}, 'x\u001b[31m': {} } });
  const ask = async () =>
    (await filings(['completion', '--profiles', 'zsh', '--', `--config=${path}`, ''])).stdout.toString();
  expect(await ask()).toBe('wo rk\ntest\n');
  await chmod(path, 0o622);
  expect(await ask()).toBe('');
});
