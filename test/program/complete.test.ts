import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const answer =
  (names: readonly string[]): Script =>
  (socket) => {
    const body = JSON.stringify(names);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
    socket.write(`${head}\r\n\r\n${body}`);
  };
const OFFERED = 'a.htm\nb.htm\n';
const LINE = ['download', ACCESSION];

async function place(script: Script = answer(['a.htm', 'b.htm'])) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  const here = await workplace();
  return {
    ...here,
    server,
    /**
     * What is offered behind a line; it says nothing else, and never fails. Its patience has no end, or ends soon after
     * the service is asked.
     */
    async names(words: readonly string[], env = serviceAt(server.url), isImpatient = false): Promise<string> {
      const wait = async (ms: number, signal: AbortSignal) => {
        if (ms < 1000) return sleep(ms, signal);
        while (isImpatient && server.requests.length === 0) await sleep(5, signal);
        return sleep(isImpatient ? 50 : ms * 100, signal);
      };
      const ended = await here.filings(['__complete', '--', ...words], env, { input: 'stdin-key\n', sleep: wait });
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

test('names are listed with the settings of environment, line and config file, at each TAB anew', async () => {
  const { names, server, config, home } = await place();
  expect(await names(LINE)).toBe(OFFERED);
  expect(await names(['--base-url', server.url, '--api-key=b-key', ...LINE, 'a.htm'], {})).toBe('b.htm\n');
  const path = await config({ baseUrl: server.url, profiles: { p: { baseUrl: server.url, apiKey: 'c-key' } } });
  expect(await names(['--config', path, ...LINE, '--profile', 'p'], {})).toBe(OFFERED);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['a-key', 'b-key', 'c-key']);
  expect(await names(['--sandbox', ...LINE], {})).toContain('primary.htm\n');
  expect((await readdir(home)).sort()).toEqual(['config.json', 'work']);
});

describe('nothing is offered, and nobody asked,', () => {
  test.each<[readonly string[], Record<string, string>?]>([
    // Stdin, a wrong setting, a value that is still to be typed.
    [[...LINE, '--api-key-file', '-'], { FILINGS_API_KEY: '' }],
    [[...LINE, '--jwt-file', '-', '--key-in', 'header']],
    [LINE, { FILINGS_JOBS: 'many' }],
    [[...LINE, '--include']],
    [['download']],
    [['download', '--help']],
  ])('behind %j, %j', async (words, env = {}) => {
    const { names, server } = await place();
    expect(await names(words, { ...serviceAt(server.url), ...env })).toBe('');
    expect(server.requests.length).toBe(0);
  });

  test.each([
    ['where apiKeyCommand would run', { apiKeyCommand: ['touch', 'ran'] }, 0o600],
    ['where others can write the config file', { apiKey: 'a-key' }, 0o666],
  ])('%s', async (_, settings, mode) => {
    const here = await place();
    const path = await here.config({ baseUrl: here.server.url, ...settings }, mode);
    expect(await here.names(LINE, { FILINGS_CONFIG: path })).toBe('');
    expect(here.server.requests.length).toBe(0);
    expect(await readdir(here.path)).toEqual([]);
  });
});

test.each<[string, Script]>([
  ['a service that never answers', () => {}],
  ['one that answers without end', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[')],
  ['a 401', (socket) => void socket.end('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n')],
  ['no listing', (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\u001b]0;x\u0007')],
])('%s: nothing is offered, and nothing said', async (_, script) => {
  const { names, server } = await place(script);
  expect(await names(LINE, undefined, true)).toBe('');
  expect(server.requests.length).toBe(1);
});

test('names that a terminal would act on, or that would be options, are left out', async () => {
  const { names } = await place(
    answer(['x\u001b[31m.htm', 'y\n.htm', '\u202ez.htm', '-dash.htm', 'good.htm', 'good.htm']),
  );
  expect(await names(LINE)).toBe('good.htm\n');
});

test.each(['bash', 'zsh', 'fish'])(
  'completion %s prints the script of the package, and needs no settings',
  async (shell) => {
    const { filings } = await place();
    const { stdout, exitCode } = await filings(['completion', shell], { FILINGS_CONFIG: '/nowhere/config.json' });
    expect(exitCode).toBe(0);
    const script = join(import.meta.dirname, `../../completions/filings.${shell}`);
    expect(stdout.toString()).toBe(await readFile(script, 'utf8'));
  },
);
