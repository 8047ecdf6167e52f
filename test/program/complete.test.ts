import { describe, expect, vi } from 'vitest';
import { heldClock } from '../held-clock.ts';
import { startArchive } from '../servers/archive.ts';
import { answering } from './batch.ts';
import { ACCESSION, test as base, type Workplace } from './run.ts';

const COMMANDS = ['list', 'download', 'verify', 'token', 'serve', 'config', 'completion'];

/** The words that TAB offers in place of the last word. On a slow machine, loading the code may take two seconds. */
async function completed({ filings }: Workplace, words: readonly string[], env = {}) {
  const { sleep } = heldClock();
  const { exitCode, stdout, stderr } = await filings(['__complete', ...words], env, { input: 'key\n', sleep });
  expect([exitCode, stderr]).toEqual([0, '']);
  return `${stdout}`.split('\n').flatMap((one) => one.split('\t')[0] || []);
}

base.for<{ line: string; offers: readonly string[] }>([
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
])('after "$line" TAB offers $offers', async ({ line, offers }, { place }) => {
  expect(await completed(place, line.split(' '))).toEqual(offers);
});

// Names that shells would split are in prove/completion-shells.
describe('the names of files', () => {
  const NAMES = ['a.htm', 'b c.htm', 'c:d.htm', 'ü.htm'];
  const HARMFUL = ['-d.htm', 'ctl\u001b[31m.htm', 'new\nline.htm', 'tab\t.htm', 'bidi\u202e.htm'];

  const test = base.extend('service', () =>
    startArchive({ [ACCESSION]: Object.fromEntries([...NAMES, ...HARMFUL].map((name) => [name, ''])) }),
  );

  test('are those of the filing that are not typed yet and can be printed', async ({ place, service }) => {
    const names = (...words: string[]) => completed(place, ['download', ACCESSION, ...words], service.env);
    expect(await names('')).toEqual(NAMES);
    expect(await names('a.htm', '')).toEqual(NAMES.slice(1));
    expect(await names('b ')).toEqual(['b c.htm']);
  });

  test('are not offered if the key would come from a program, and an error is silent', async ({ place, service }) => {
    const path = await place.write('c.json', JSON.stringify({ baseUrl: service.url, apiKeyCommand: ['touch', 'ran'] }));
    expect(await completed(place, ['--config', path, 'download', ACCESSION, ''])).toEqual([]);
    expect(await completed(place, ['download', ACCESSION, ''])).toEqual([]);
    expect([service.requests, await place.names()]).toEqual([[], ['c.json']]);
  });

  test('are waited for two seconds, and asked for once', async ({ place }) => {
    const { pass, ...clock } = heldClock();
    const busy = await startArchive({}, { instead: answering(503) });
    expect(await completed(place, ['download', ACCESSION, ''], busy.env)).toEqual([]);
    expect(busy.requests).toHaveLength(1);
    const silent = await startArchive({}, { instead: () => true });
    const onEnd = vi.fn();
    const ended = place.filings(['__complete', 'download', ACCESSION, ''], silent.env, clock).then(onEnd);
    await expect.poll(() => silent.requests.length).toBe(1);
    await pass(1999);
    expect(onEnd).not.toHaveBeenCalled();
    await pass(1);
    await expect.poll(() => onEnd.mock.calls.length).toBe(1);
    await ended;
  });

  test('come from the service of the profile on the line, however it is written', async ({ place, service }) => {
    await place.config({ profiles: { work: { baseUrl: service.url, apiKey: 'a-key' } } });
    for (const profile of [['--profile', 'work'], ['--profile=work']])
      expect(await completed(place, [...profile, 'download', ACCESSION, 'a'])).toEqual(['a.htm']);
  });
});

base('the names of profiles are those of the config file', async ({ place }) => {
  const path = await place.write('c.json', JSON.stringify({ profiles: { test: {}, 'work at:home': {} } }));
  expect(await completed(place, ['--config', path, '--profile', 'w'])).toEqual(['work at:home']);
  expect(await completed(place, [`--config=${path}`, '--profile=w'])).toEqual(['--profile=work at:home']);
});
