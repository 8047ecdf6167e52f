import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { worldOf } from '../settings-world.ts';
import { type Workplace, workplace } from './run.ts';

const LIST = ['list', '0001234567-24-000001'];

async function placeWith(config: object | string) {
  const place = await workplace();
  const folder = join(place.home, '.config/filings');
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'config.json');
  await writeFile(path, typeof config === 'string' ? config : JSON.stringify(config));
  await chmod(path, 0o600);
  return { place };
}

/** The `error` member that stderr ends with; undefined where that is text. */
async function errorOf(place: Workplace, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { exitCode, stderr } = await place.filings(args, env);
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  return { exitCode, code: last.startsWith('{') ? JSON.parse(last).error.code : undefined };
}

describe('how an error is shown', () => {
  test.each([
    ['a command line that can not be read', [...LIST, '--nonsense'], {}],
    ['a flag with a wrong value', [...LIST, '--jobs', 'x'], {}],
    ['a variable with a wrong value', LIST, { FILINGS_JOBS: 'x' }],
    ['a command that takes no settings', ['token', 'inspect', '--', '-'], {}],
  ])('as the config file has it: %s', async (_, args, env) => {
    const { place } = await placeWith({ baseUrl: 'http://127.0.0.1:9/', errorFormat: 'json' });
    const { code } = await errorOf(place, args, env);
    expect(code).toMatch(/^(usage|config|rejected|auth)$/);
  });

  test('as flags and environment have it where the config file is broken', async () => {
    const { place } = await placeWith('{ "errorFormat": ');
    expect(await errorOf(place, LIST)).toEqual({ exitCode: 2, code: undefined });
    expect(await errorOf(place, [...LIST, '--error-format', 'json'])).toEqual({ exitCode: 2, code: 'config' });
    expect(await errorOf(place, LIST, { FILINGS_ERROR_FORMAT: 'json' })).toEqual({ exitCode: 2, code: 'config' });
  });

  test('notes of token commands follow the config file, too', async () => {
    const { place } = await placeWith({ errorFormat: 'json' });
    const secret = join(place.path, 'secret');
    await writeFile(secret, `${'s'.repeat(64)}\n`, { mode: 0o600 });
    const { stderr } = await place.filings(['token', 'sign', '--secret-file', secret]);
    expect(stderr).not.toBe('');
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('note', expect.any(String));
  });

  test.each([
    [
      '--verbose',
      /^filings: a defect in the program: TypeError: no version\n {2}hint: .*\n {2}TypeError: no version\n {4,}at /,
    ],
    ['--color=never', /^filings: a defect in the program: TypeError: no version\n {2}hint: .*\n$/],
  ])('a defect under %s', async (flag, told) => {
    const stderr = new PassThrough();
    const world = worldOf({ argv: ['--version', flag], stderr });
    const broken = Object.defineProperty(world, 'version', {
      get() {
        throw new TypeError('no version');
      },
    });
    expect(await main(broken)).toBe(1);
    expect(String(stderr.read())).toMatch(told);
  });
});
