import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { foreign } from '../../src/secrets.ts';
import { reportError } from '../../src/session/report-error.ts';
import { deriveWorld } from '../../src/world.ts';
import { worldOf } from '../settings-world.ts';
import { jsonOf, workplace } from './run.ts';

const LIST = ['list', '0001234567-24-000001'];

/**
 * Returns the exit status with this config file, and the code of the JSON error at the end of stderr, or undefined if
 * stderr is text.
 */
async function errorBeside(config: object | string, args: readonly string[], env: Record<string, string> = {}) {
  const place = await workplace();
  await place.config(config);
  const { exitCode, stderr } = await place.filings(args, env);
  return [exitCode, stderr.startsWith('{') ? jsonOf(stderr).at(-1).error.code : undefined];
}

describe('the format of errors', () => {
  const inJson = { baseUrl: 'http://127.0.0.1:9/', errorFormat: 'json' };
  const BROKEN = '{ "errorFormat": ';
  test.each<[string, object | string, string[], Record<string, string>, [number, string | undefined]]>([
    ['is that of the config file: an unknown option', inJson, [...LIST, '--nonsense'], {}, [2, 'usage']],
    ['is that of the config file: an invalid flag', inJson, [...LIST, '--jobs', 'x'], {}, [2, 'usage']],
    ['is that of the config file: an invalid variable', inJson, LIST, { FILINGS_JOBS: 'x' }, [2, 'usage']],
    ['is that of the config file: a token command', inJson, ['token', 'inspect', '--', '-'], {}, [4, 'auth']],
    ['is text for a broken config file', BROKEN, LIST, {}, [2, undefined]],
    ['is that of the flag for a broken config file', BROKEN, [...LIST, '--error-format', 'json'], {}, [2, 'config']],
    ['is that of the variable for a broken config file', BROKEN, LIST, { FILINGS_ERROR_FORMAT: 'json' }, [2, 'config']],
  ])('%s', async (_, config, args, env, expected) => {
    expect(await errorBeside(config, args, env)).toEqual(expected);
  });

  test('follows a config file that is a pipe, which is read once', async () => {
    const place = await workplace();
    const pipe = join(place.path, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', JSON.stringify(inJson), pipe]);
    const { exitCode, stderr } = await place.filings([...LIST, '--config', pipe]);
    expect([exitCode, jsonOf(stderr).at(-1).error.message]).toEqual([4, 'no API key: the service requires one']);
    writer.kill();
  });

  test('applies to the warnings of token commands, too', async () => {
    const place = await workplace();
    await place.config({ errorFormat: 'json' });
    await place.write('secret', `${'s'.repeat(64)}\n`);
    const { stderr } = await place.filings(['token', 'sign', '--secret-file', 'secret']);
    expect(jsonOf(stderr)).toEqual([{ warning: { message: expect.stringContaining('line break') } }]);
  });

  const DEFECT = 'filings: a defect in the program: TypeError: no version\n  hint: [^\n]*\n';
  test.each([
    ['--verbose', new RegExp(`^${DEFECT} {2}TypeError: no version\n {4,}at `)],
    ['--color=never', new RegExp(`^${DEFECT}$`)],
  ])('shows the stack of a defect with --verbose only: %s', async (flag, pattern) => {
    const stderr = new PassThrough();
    const broken = Object.defineProperty(worldOf({ argv: [flag, '--version'], stderr }), 'version', {
      get() {
        throw new TypeError('no version');
      },
    });
    expect(await main(broken)).toBe(1);
    expect(String(stderr.read())).toMatch(pattern);
  });
});

test('an error whose presentation cannot be determined is one line without a secret', async () => {
  const stderr = new PassThrough();
  const world = deriveWorld(worldOf({ stderr }), {
    get env(): never {
      throw new Error('too many open files');
    },
  });
  world.secrets.add('a-long-secret');
  const error = new FilingsError('temporary', `${foreign('https://user:a-long-secret@x')}: no answer`);
  expect(await reportError(error, {}, world)).toBe(7);
  expect(`${stderr.read()}`).toBe('filings: https://[redacted]@x: no answer\n');
});
