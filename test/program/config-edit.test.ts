import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { workplace } from './run.ts';

/** A place whose editor is a shell script that gets the file as $1. */
async function editing(before?: string) {
  const place = await workplace();
  const config = join(place.home, '.config/filings/config.json');
  const drafts = join(place.home, 'tmp');
  await mkdir(drafts);
  if (before !== undefined) {
    await mkdir(dirname(config), { recursive: true });
    await writeFile(config, before, { mode: 0o600 });
  }
  const edit = async (script: string, env: Record<string, string> = {}) => {
    const editor = join(place.home, 'my editor');
    await writeFile(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return place.filings(['config', 'edit'], { TMPDIR: drafts, VISUAL: `'${editor}'`, ...env });
  };
  const drafted = async () => (await readdir(drafts)).length;
  return { ...place, config, edit, drafted, text: () => readFile(config, 'utf8') };
}

describe('config edit', () => {
  test('puts what was written in the place of the file, as it was written, for its owner alone', async () => {
    const { config, edit, drafted, text } = await editing('{"jobs": 2}');
    const { exitCode, stderr } = await edit(`printf '{ "jobs":   3 }' > "$1"`);
    expect(exitCode, stderr).toBe(0);
    expect(await text()).toBe('{ "jobs":   3 }');
    expect((await stat(config)).mode & 0o777).toBe(0o600);
    expect(await drafted()).toBe(0);
  });

  test('begins a new file with its schema, which is there', async () => {
    const { config, edit, text } = await editing();
    const { exitCode, stderr } = await edit(`sed -i 's/"$/",\\n  "jobs": 3/' "$1"`);
    expect(exitCode, stderr).toBe(0);
    const written = JSON.parse(await text());
    expect(written).toEqual({ $schema: expect.stringMatching(/^file:\/\/\/.*config\.schema\.json$/), jobs: 3 });
    expect(JSON.parse(await readFile(new URL(written.$schema), 'utf8'))).toHaveProperty('properties.jobs');
    expect((await stat(config)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['nothing was changed', 'true', 0, undefined],
    ['the editor fails', `printf '{"jobs": 3}' > "$1"; exit 3`, 2, 'it ended with 3: nothing is changed'],
    ['it is no JSON', `printf '{\\n"jobs": 3,\\n}' > "$1"`, 2, 'line 2: a comma with nothing after it: JSON has none'],
    ['it has a comment', `printf '{\\n\\n// 3\\n}' > "$1"`, 2, 'line 3: a comment: JSON has none'],
    ['a setting is unknown', `printf '{\\n"jobz": 3\\n}' > "$1"`, 2, 'line 2: jobz: no such setting'],
    ['a value is wrong', `printf '{"jobs": 3,\\n"baseUrl": "x"}' > "$1"`, 2, 'line 2: baseUrl: must be an http'],
    [
      'a value of a profile is wrong',
      `printf '{"profiles": {\\n"a": {}, "b": {\\n"rate": "x"}}}' > "$1"`,
      2,
      'line 3: profiles.b.rate: must be a number a second',
    ],
    ['its profile is not there', `printf '{\\n"profile": "x"}' > "$1"`, 2, 'line 2: profile: there is no profile x'],
  ])('writes nothing when %s', async (_, script, exit, message) => {
    for (const before of ['{"jobs": 2}', undefined]) {
      const { config, edit, text, drafted } = await editing(before);
      const { exitCode, stderr } = await edit(script);
      expect(exitCode, stderr).toBe(exit);
      if (message === undefined) expect(stderr).toBe('');
      else expect(stderr).toContain(message);
      if (before === undefined) await expect(stat(config)).rejects.toThrow('ENOENT');
      else expect(await text()).toBe(before);
      expect(await drafted()).toBe(exit === 0 ? 0 : 1);
    }
  });

  test.each([
    ['nothing', 'rm "$1"', /no such file/],
    ['a directory', 'rm "$1"; mkdir "$1"', /not a regular file/],
    ['a pipe that nobody writes to', 'rm "$1"; mkfifo "$1"', /not a regular file/],
    ['a link to nothing', 'ln -sf nothing "$1"', /no such file/],
    ['more than any config file', 'head -c 2000000 /dev/zero > "$1"', /larger than/],
  ])('says so when the editor leaves %s', async (_, script, message) => {
    const { edit, text, drafted } = await editing('{"jobs": 2}');
    const { exitCode, stderr } = await edit(script);
    expect(exitCode, stderr).toBe(2);
    expect(stderr).toMatch(/^filings: what the editor left: /);
    expect(stderr).toMatch(message);
    expect(await text()).toBe('{"jobs": 2}');
    expect(await drafted()).toBe(0);
  });

  test('keeps what was written and could not be taken, and says where', async () => {
    const { edit } = await editing('{"jobs": 2}');
    const { stderr } = await edit(`printf '{"jobs": 300}' > "$1"`);
    const [, path = ''] = /what you wrote is in (.*)\n/.exec(stderr) ?? [];
    expect(await readFile(path, 'utf8')).toBe('{"jobs": 300}');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  });

  test('takes EDITOR with arguments where VISUAL is empty, and says which program is not there', async () => {
    const { edit, text } = await editing('{"jobs": 2}');
    expect(await edit('', { VISUAL: '', EDITOR: `sed -i s/2/4/` })).toMatchObject({ exitCode: 0 });
    expect(await text()).toBe('{"jobs": 4}');
    const { exitCode, stderr } = await edit('', { VISUAL: 'no-such-editor' });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the editor no-such-editor: no such program')]);
  });

  test('mends a file that cannot be read, and does not overwrite what another wrote meanwhile', async () => {
    const { config, edit, text } = await editing('{"jobs": 2,}');
    expect((await edit(`printf '{"jobs": 2}' > "$1"`)).exitCode).toBe(0);
    const { exitCode, stderr } = await edit(`printf '{"jobs": 5}' > "$1"; printf '{"jobs": 6}' > '${config}'`);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('something else changed it meanwhile')]);
    expect(await text()).toBe('{"jobs": 6}');
  });
});

describe('config set', () => {
  test.each(['jwt.keyFile', 'jwt.key-file'])('%s, get and unset', async (name) => {
    const { config, filings, path, text } = await editing();
    const { exitCode, stderr } = await filings(['config', 'set', name, 'k.pem']);
    expect(exitCode, stderr).toBe(0);
    expect((await filings(['config', 'set', 'jwt.sub', 'me'])).exitCode).toBe(0);
    expect(JSON.parse(await text())).toMatchObject({ jwt: { keyFile: join(path, 'k.pem'), sub: 'me' } });
    expect((await filings(['config', 'get', name])).stdout.toString()).toBe(`${join(path, 'k.pem')}\n`);
    expect((await filings(['config', 'get', 'jwt.kid'])).exitCode).toBe(5);
    expect((await filings(['config', 'unset', 'jwt.sub'])).exitCode).toBe(0);
    expect((await filings(['config', 'unset', name])).exitCode).toBe(0);
    expect(JSON.parse(await readFile(config, 'utf8'))).not.toHaveProperty('jwt');
  });

  test.each([
    [['jobs', '300'], "filings: jobs: must be a whole number from 1 to 256, such as 4, not '300'\n"],
    [
      ['rate', 'fast', '--profile', 'w'],
      "filings: rate: must be a number a second or a minute, such as 10/s or 90/m, not 'fast'\n",
    ],
    [
      ['jwt.lifetime', 'long'],
      "filings: jwt.lifetime: must be a duration, such as 500ms, 30s, 5m, 2h or 1d, not 'long'\n",
    ],
    [['profile', 'a', '--profile', 'b'], 'filings: profile: cannot stand in a profile\n  hint: leave --profile out\n'],
    [['jwt.keyfile', 'x'], 'filings: jwt.keyfile: no such setting\n  hint: did you mean jwt.keyFile?\n'],
  ])('%j: the refusal names the value, not the file', async (args, message) => {
    const { filings } = await editing();
    const { exitCode, stderr } = await filings(['config', 'set', ...args]);
    expect([exitCode, stderr]).toEqual([2, message]);
  });

  test('a file that is wrong elsewhere is told as the file', async () => {
    const { filings, config } = await editing('{"jobs": "many"}');
    const { stderr } = await filings(['config', 'set', 'retries', '3']);
    expect(stderr).toContain(`config file ${config}: jobs: must be`);
  });

  test.each([
    ['{\n  "jobs": 2, // two\n}', 'line 2: a comment: JSON has none'],
    ['{\n  "jobs": 2,\n}', 'line 2: a comma with nothing after it: JSON has none'],
    ['{"apiKeyCommand": ["a",\n]}', 'line 1: a comma with nothing after it: JSON has none'],
    ['# mine\n{}', 'line 1: a comment: JSON has none'],
    ['{}\n/* mine */', 'line 2: a comment: JSON has none'],
  ])('%j: what JSON has not is named, with its line', async (content, message) => {
    const { filings, config } = await editing(content);
    expect((await filings(['config', 'list'])).stderr).toBe(`filings: config file ${config}: ${message}\n`);
  });
});
