import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/main.ts';
import { worldOf } from '../settings-world.ts';
import { jsonOf, workplace } from './run.ts';

const LIST = ['list', '0001234567-24-000001'];

/** The exit status beside a config file, and the code of the error that stderr ends with; undefined where that is text. */
async function errorBeside(config: object | string, args: readonly string[], env: Record<string, string> = {}) {
  const place = await workplace();
  await place.config(config);
  const { exitCode, stderr } = await place.filings(args, env);
  return [exitCode, stderr.startsWith('{') ? jsonOf(stderr).at(-1).error.code : undefined];
}

describe('how an error is shown', () => {
  const inJson = { baseUrl: 'http://127.0.0.1:9/', errorFormat: 'json' };
  const BROKEN = '{ "errorFormat": ';
  test.each<[string, object | string, string[], Record<string, string>, [number, string | undefined]]>([
    ['a command line that can not be read', inJson, [...LIST, '--nonsense'], {}, [2, 'usage']],
    ['a flag with a wrong value', inJson, [...LIST, '--jobs', 'x'], {}, [2, 'usage']],
    ['a variable with a wrong value', inJson, LIST, { FILINGS_JOBS: 'x' }, [2, 'usage']],
    ['a command that takes no settings', inJson, ['token', 'inspect', '--', '-'], {}, [4, 'auth']],
    ['a broken config file', BROKEN, LIST, {}, [2, undefined]],
    ['a broken config file, with a flag', BROKEN, [...LIST, '--error-format', 'json'], {}, [2, 'config']],
    ['a broken config file, with a variable', BROKEN, LIST, { FILINGS_ERROR_FORMAT: 'json' }, [2, 'config']],
  ])('%s', async (_, config, args, env, expected) => {
    expect(await errorBeside(config, args, env)).toEqual(expected);
  });

  test('notes of token commands follow the config file, too', async () => {
    const place = await workplace();
    await place.config({ errorFormat: 'json' });
    await place.write('secret', `${'s'.repeat(64)}\n`);
    const { stderr } = await place.filings(['token', 'sign', '--secret-file', 'secret']);
    expect(jsonOf(stderr)).toEqual([{ note: expect.stringContaining('line break') }]);
  });

  const DEFECT = 'filings: a defect in the program: TypeError: no version\n  hint: [^\n]*\n';
  test.each([
    ['--verbose', new RegExp(`^${DEFECT} {2}TypeError: no version\n {4,}at `)],
    ['--color=never', new RegExp(`^${DEFECT}$`)],
  ])('a defect under %s', async (flag, told) => {
    const stderr = new PassThrough();
    const broken = Object.defineProperty(worldOf({ argv: ['--version', flag], stderr }), 'version', {
      get() {
        throw new TypeError('no version');
      },
    });
    expect(await main(broken)).toBe(1);
    expect(String(stderr.read())).toMatch(told);
  });
});
