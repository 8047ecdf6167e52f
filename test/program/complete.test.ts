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
  /**
   * Answers `__complete`, which says nothing else and never fails. Its patience has no end, or ends soon after the
   * service is asked.
   */
  async function complete(args: readonly string[], env = serviceAt(server.url), isImpatient = false): Promise<string> {
    const wait = async (ms: number, signal: AbortSignal) => {
      if (ms < 1000) return sleep(ms, signal);
      while (isImpatient && server.requests.length === 0) await sleep(5, signal);
      return sleep(isImpatient ? 50 : ms * 100, signal);
    };
    const ended = await here.filings(['__complete', ...args], env, { input: 'stdin-key\n', sleep: wait });
    expect({ exitCode: ended.exitCode, stderr: ended.stderr }).toEqual({ exitCode: 0, stderr: '' });
    return `${ended.stdout}`;
  }
  return {
    ...here,
    server,
    complete,
    /** Returns the names that fish gets for these words. */
    async names(words: readonly string[], env?: Record<string, string>, isImpatient?: boolean): Promise<string> {
      return (await complete(['fish', `filings ${words.join(' ')} `], env, isImpatient)).replace(/^words\n/, '');
    },
    config: (config: object, mode?: number) => here.write('../config.json', JSON.stringify(config), mode),
  };
}

test('each TAB lists the names with the settings of the environment, the line and the config file', async () => {
  const { names, server, config, home } = await place();
  expect(await names(LINE)).toBe(OFFERED);
  expect(await names(['--base-url', server.url, '--api-key=b-key', ...LINE, 'a.htm'], {})).toBe('b.htm\n');
  const path = await config({ baseUrl: server.url, profiles: { p: { baseUrl: server.url, apiKey: 'c-key' } } });
  expect(await names(['--config', path, ...LINE, '--profile', 'p'], {})).toBe(OFFERED);
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['a-key', 'b-key', 'c-key']);
  expect(await names(['--sandbox', ...LINE], {})).toContain('primary.htm\n');
  expect((await readdir(home)).sort()).toEqual(['config.json', 'work']);
});

describe('nothing is offered, and no request is sent,', () => {
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
  ['one that answers without end', (socket) => void socket.write(`${head(200, { 'Content-Length': 9 })}[`)],
  ['a 401', (socket) => void socket.end(head(401, { 'Content-Length': 0 }))],
  ['no listing', (socket) => void socket.end(`${head(200, { 'Content-Length': 6 })}\u001b]0;x\u0007`)],
])('nothing is offered or printed: %s', async (_, script) => {
  const { names, server } = await place(script);
  expect(await names(LINE, undefined, true)).toBe('');
  expect(server.requests.length).toBe(1);
});

test('names that a terminal would act on, or that would be options, are left out', async () => {
  const odd = ['x\u001b[31m.htm', 'y\n.htm', '\u202ez.htm', '-dash.htm', 'good.htm', 'good.htm'];
  const { names } = await place(answer(odd));
  expect(await names(LINE)).toBe('good.htm\n');
});

test.each([
  ['bash', 'a\\ b.htm'],
  ['zsh', 'a b.htm'],
])('%s gets the names of a filing, but not while only the shell knows a word', async (shell, quoted) => {
  const { complete, server } = await place(answer(['a b.htm', 'c.htm']));
  expect(await complete([shell, `filings download ${ACCESSION} c.htm `])).toBe(`words\n${quoted}\n`);
  expect(await complete([shell, 'filings', 'download', ACCESSION, ''])).toBe(`words\n${quoted}\nc.htm\n`);
  expect(await complete([shell, `filings --api-key $KEY download ${ACCESSION} `])).toBe('words\n');
  expect(server.requests.length).toBe(2);
});

test('the scripts of version 0.1.0 pass the words before the cursor, and get names alone', async () => {
  const { complete } = await place(answer(['a b.htm', 'c.htm']));
  expect(await complete(['--', ...LINE, 'c.htm'])).toBe('a b.htm\n');
  expect(await complete(['--', ...LINE, '--include'])).toBe('');
});

describe('profiles', () => {
  const PROFILES = { work: {}, 'at home': { baseUrl: 'no URL' }, 'x\u001b[31m': {}, 'y\nz': {}, '-dash': {} };

  test.each(['list --profile=', 'config set profile '])(
    'are offered after %s, even if other settings are wrong',
    async (line) => {
      const { complete, config } = await place();
      const path = await config({ apiKey: 'a-key', nonsense: true, profiles: PROFILES });
      const told = await complete(['fish', `filings --config ${path} ${line}`]);
      expect(told.replaceAll('--profile=', '')).toBe('words\nwork\nat home\n');
    },
  );

  test.each([
    ['of a file that others can read', { apiKey: 'a-key', profiles: PROFILES }, 0o644],
    ['of a file without profiles', { profiles: 'work' }, 0o600],
  ])('%s are not offered', async (_, settings, mode) => {
    const { complete, config } = await place();
    const path = await config(settings, mode);
    expect(await complete(['fish', 'filings --profile '], { FILINGS_CONFIG: path })).toBe('words\n');
    expect(await complete(['fish', 'filings --profile '], { FILINGS_CONFIG: `${path}.none` })).toBe('words\n');
  });
});

test.each([[], ['tcsh', 'filings '], ['__proto__', 'filings '], ['bash', 'filings "a\nb" ']])(
  '%j is answered with nothing',
  async (...args) => expect(await (await place()).complete(args)).toBe(''),
);

test.each(['bash', 'zsh', 'fish', 'powershell'])(
  'completion %s prints the package’s script, and needs no settings',
  async (shell) => {
    const { filings } = await workplace();
    const { stdout, exitCode } = await filings(['completion', shell], { FILINGS_CONFIG: '/nowhere/config.json' });
    const file = `filings.${shell === 'powershell' ? 'ps1' : shell}`;
    const script = await readFile(join(import.meta.dirname, '../../completions', file), 'utf8');
    expect([exitCode, `${stdout}`]).toEqual([0, script]);
    expect(script).toContain(`filings __complete ${shell} `);
  },
);

test('the script of PowerShell is plain ASCII with balanced brackets, and never runs a text as a command', async () => {
  const script = await readFile(join(import.meta.dirname, '../../completions/filings.ps1'), 'utf8');
  expect(script).toMatch(/^[\n -~]*$/);
  expect(script).toMatch(/^Register-ArgumentCompleter -Native -CommandName filings -ScriptBlock \{$/m);
  expect(script).not.toMatch(/Invoke-Expression|iex\b|ExpandString/i);
  const code = script.replace(/^ *#.*$/gm, '').replace(/'[^']*'|"[^"\n]*"/g, '');
  for (const pair of ['{}', '()', '[]']) {
    const count = [...pair].map((bracket) => code.split(bracket).length);
    expect(count[0]).toBe(count[1]);
  }
});
