import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const answer =
  (names: readonly string[]): Script =>
  (socket) => {
    const body = JSON.stringify(names);
    socket.write(head(200, { 'Content-Length': Buffer.byteLength(body) }) + body);
  };
const OFFERED = 'a.htm\nb.htm\n';
const LINE = ['download', ACCESSION];

async function place(script: Script = answer(['a.htm', 'b.htm'])) {
  const [server, here] = [await scripted(script), await workplace()];
  return {
    ...here,
    server,
    /**
     * Returns the names that completion offers after `words`. Checks that it exits with 0 and an empty stderr. If
     * `isImpatient`, its time limit ends soon after the first request; otherwise it never ends.
     */
    async names(words: readonly string[], env = serviceAt(server.url), isImpatient = false): Promise<string> {
      const wait = async (ms: number, signal: AbortSignal) => {
        if (ms < 1000) return sleep(ms, signal);
        while (isImpatient && server.requests.length === 0) await sleep(5, signal);
        return sleep(isImpatient ? 50 : ms * 100, signal);
      };
      const ended = await here.filings(['__complete', '--', ...words], env, { input: 'stdin-key\n', sleep: wait });
      expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({ exitCode: 0, stderr: '' });
      return `${ended.stdout}`;
    },
    config: (config: object, mode?: number) => here.write('../config.json', JSON.stringify(config), mode),
  };
}

test('completion lists names with the settings of environment, command line and config file', async () => {
  const { names, server, config, home } = await place();
  expect(await names(LINE)).toBe(OFFERED);
  expect(await names(['--base-url', server.url, '--api-key=b-key', ...LINE, 'a.htm'], {})).toBe('b.htm\n');
  const path = await config({ baseUrl: server.url, profiles: { p: { baseUrl: server.url, apiKey: 'c-key' } } });
  expect(await names(['--config', path, ...LINE, '--profile', 'p'], {})).toBe(OFFERED);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['a-key', 'b-key', 'c-key']);
  expect(await names(['--sandbox', ...LINE], {})).toContain('primary.htm\n');
  expect((await readdir(home)).sort()).toEqual(['config.json', 'work']);
});

describe('completion offers nothing and sends no request', () => {
  test.each<[readonly string[], Record<string, string>?]>([
    // Reading stdin, an invalid setting, and an option whose value is not typed yet.
    [[...LINE, '--api-key-file', '-'], { FILINGS_API_KEY: '' }],
    [[...LINE, '--jwt-file', '-', '--key-in', 'header']],
    [LINE, { FILINGS_JOBS: 'many' }],
    [[...LINE, '--include']],
    [['download']],
    [['download', '--help']],
  ])('after %j with %j', async (words, env = {}) => {
    const { names, server } = await place();
    expect(await names(words, { ...serviceAt(server.url), ...env })).toBe('');
    expect(server.requests.length).toBe(0);
  });

  test.each([
    ['if apiKeyCommand would run', { apiKeyCommand: ['touch', 'ran'] }, 0o600],
    ['if others can write the config file', { apiKey: 'a-key' }, 0o666],
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
  ['a response without an end', (socket) => void socket.write(`${head(200, { 'Content-Length': 9 })}[`)],
  ['a 401', (socket) => void socket.end(head(401, { 'Content-Length': 0 }))],
  ['no listing', (socket) => void socket.end(`${head(200, { 'Content-Length': 6 })}\u001b]0;x\u0007`)],
])('completion offers nothing and prints no error for %s', async (_, script) => {
  const { names, server } = await place(script);
  expect(await names(LINE, undefined, true)).toBe('');
  expect(server.requests.length).toBe(1);
});

test('completion omits names with control characters and names that look like options', async () => {
  const odd = ['x\u001b[31m.htm', 'y\n.htm', '\u202ez.htm', '-dash.htm', 'good.htm', 'good.htm'];
  const { names } = await place(answer(odd));
  expect(await names(LINE)).toBe('good.htm\n');
});

test.each(['bash', 'zsh', 'fish'])(
  'completion %s prints the script of the package without reading settings',
  async (shell) => {
    const { filings } = await workplace();
    const { stdout, exitCode } = await filings(['completion', shell], { FILINGS_CONFIG: '/nowhere/config.json' });
    const script = await readFile(join(import.meta.dirname, `../../completions/filings.${shell}`), 'utf8');
    expect([exitCode, `${stdout}`]).toEqual([0, script]);
  },
);
