import { describe, expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

async function place(names: readonly string[] = []) {
  const body = JSON.stringify(names);
  const length = Buffer.byteLength(body);
  const server = await scripted((socket) => void socket.write(head(200, { 'Content-Length': length }) + body));
  const { filings, write } = await workplace();
  const complete = async (words: readonly string[], env: Record<string, string> = serviceAt(server.url)) => {
    const { exitCode, stdout, stderr } = await filings(['__complete', ...words], env, { input: 'key\n' });
    expect([exitCode, stderr]).toEqual([0, '']);
    return `${stdout}`.split('\n').flatMap((one) => one.split('\t')[0] || []);
  };
  return { server, complete, write };
}

const COMMANDS = ['list', 'download', 'verify', 'token', 'serve', 'config', 'completion'];

test.each<{ line: string; offers: readonly string[] }>([
  { line: 'd', offers: ['download'] },
  { line: 'he', offers: ['help'] },
  { line: '-j 3 tok', offers: ['token'] },
  { line: '--profile download se', offers: ['serve'] },
  { line: 'token ', offers: ['sign', 'inspect', 'verify', 'keygen'] },
  { line: 'token keygen --format ', offers: ['pem', 'jwk'] },
  { line: 'list --colo', offers: ['--color'] },
  { line: 'list --color ', offers: ['auto', 'always', 'never'] },
  { line: 'list --color=a', offers: ['--color=auto', '--color=always'] },
  { line: 'list --color=auto --progress ', offers: ['auto', 'bar', 'plain', 'none'] },
  { line: 'completion ', offers: ['bash', 'zsh', 'fish', 'powershell'] },
  { line: 'config get jo', offers: ['jobs'] },
  { line: 'config set key-in h', offers: ['header'] },
  { line: 'help tok', offers: ['token'] },
  { line: 'help token v', offers: ['verify'] },
  { line: 'help list ', offers: [] },
  { line: 'download -i ', offers: [] },
  { line: 'download -q --jobs 3 --layout ', offers: [] },
  { line: 'none ', offers: [...COMMANDS, 'help'] },
])('after "$line" TAB offers $offers', async ({ line, offers }) => {
  expect(await (await place()).complete(line.split(' '))).toEqual(offers);
});

describe('the names of files', () => {
  const HARMFUL = ['-d.htm', 'ctl\u001b[31m.htm', 'new\nline.htm', 'tab\t.htm', 'bidi\u202e.htm'];
  const NAMES = ['a.htm', 'b c.htm', 'c:d.htm', 'ü.htm'];

  test('are those of the filing, except what is typed already and what could control the terminal', async () => {
    const { complete } = await place([...NAMES, ...HARMFUL]);
    expect(await complete(['download', ACCESSION, ''])).toEqual(NAMES);
    expect(await complete(['download', ACCESSION, 'a.htm', ''])).toEqual(NAMES.slice(1));
    expect(await complete(['download', ACCESSION, 'b '])).toEqual(['b c.htm']);
  });

  test('are not offered if the key would come from a program, and an error is silent', async () => {
    const { server, complete, write } = await place(NAMES);
    const config = { baseUrl: server.url, apiKeyCommand: ['touch', 'ran'] };
    const path = await write('../config.json', JSON.stringify(config));
    expect(await complete(['--config', path, 'download', ACCESSION, ''], {})).toEqual([]);
    expect(await complete(['download', ACCESSION, ''], {})).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test('come from the service of the profile on the line, however it is written', async () => {
    const { server, complete, write } = await place(NAMES);
    const config = { profiles: { work: { baseUrl: server.url, apiKey: 'a-key' } } };
    const path = await write('../config.json', JSON.stringify(config));
    for (const profile of [['--profile', 'work'], ['--profile=work']]) {
      expect(await complete([`--config=${path}`, ...profile, 'download', ACCESSION, 'a'], {})).toEqual(['a.htm']);
    }
  });
});

test('the names of profiles are those of the config file', async () => {
  const { complete, write } = await place();
  const path = await write('../config.json', JSON.stringify({ profiles: { test: {}, 'work at:home': {} } }));
  expect(await complete(['--config', path, '--profile', 'w'], {})).toEqual(['work at:home']);
  expect(await complete(['--config', path, '--profile=w'], {})).toEqual(['--profile=work at:home']);
});
