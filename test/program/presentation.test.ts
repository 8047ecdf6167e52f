import { execFileSync, spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { describe, expect } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { main } from '../../src/main.ts';
import { markForRedaction } from '../../src/secrets.ts';
import { reportError } from '../../src/session/report-error.ts';
import { deriveWorld } from '../../src/world.ts';
import { worldOf } from '../settings-world.ts';
import { jsonOf, test } from './run.ts';

const LIST = ['list', '0001234567-24-000001'];

describe('the format of errors', () => {
  const inJson = { baseUrl: 'http://127.0.0.1:9/', errorFormat: 'json' };
  const INSPECT = ['token', 'inspect', '--', '-'];
  const BROKEN = '{ "errorFormat": ';
  const json = ['--error-format', 'json'];
  // CODE is that of the last error in JSON. Without one, stderr is text.
  test.for`
    from                 | config    | args                        | env                                 | exit | code
    ${'the config file'} | ${inJson} | ${[...LIST, '--nonsense']}  | ${{}}                               | ${2} | ${'usage'}
    ${'the config file'} | ${inJson} | ${[...LIST, '--jobs', 'x']} | ${{}}                               | ${2} | ${'usage'}
    ${'the config file'} | ${inJson} | ${LIST}                     | ${{ FILINGS_JOBS: 'x' }}            | ${2} | ${'usage'}
    ${'the config file'} | ${inJson} | ${INSPECT}                  | ${{}}                               | ${4} | ${'auth'}
    ${'nothing else'}    | ${BROKEN} | ${LIST}                     | ${{}}                               | ${2} | ${undefined}
    ${'a flag'}          | ${BROKEN} | ${[...LIST, ...json]}       | ${{}}                               | ${2} | ${'config'}
    ${'a variable'}      | ${BROKEN} | ${LIST}                     | ${{ FILINGS_ERROR_FORMAT: 'json' }} | ${2} | ${'config'}
  `('is that of $from, beside $config: $args', async ({ config, args, env, exit, code }, { place }) => {
    await place.config(config);
    const { exitCode, stderr } = await place.filings(args, env);
    expect([exitCode, stderr.startsWith('{') ? jsonOf(stderr).at(-1).error.code : undefined]).toEqual([exit, code]);
  });

  test('does not follow a config file that is a pipe, which is read only once', async ({ place }) => {
    const pipe = place.at('pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    const writer = spawn('sh', ['-c', 'printf %s "$1" > "$2"', 'sh', JSON.stringify(inJson), pipe]);
    const { exitCode, stderr } = await place.filings([...LIST, '--config', pipe]);
    expect([exitCode, stderr]).toEqual([4, expect.stringMatching(/^filings: /)]);
    writer.kill();
  });

  test('applies to the warnings of token commands, too', async ({ place }) => {
    await place.config({ errorFormat: 'json' });
    await place.write('secret', `${'s'.repeat(64)}\n`);
    const { stderr } = await place.filings(['token', 'sign', '--secret-file', 'secret']);
    expect(jsonOf(stderr)).toEqual([{ warning: { message: expect.stringContaining('line break') } }]);
  });
});

// With --verbose the stack follows: cli/defect.
test('a defect prints one line and a hint', async () => {
  const stderr = new PassThrough();
  const broken = Object.defineProperty(worldOf({ argv: ['--version'], stderr }), 'version', {
    get() {
      throw new TypeError('no version');
    },
  });
  expect(await main(broken)).toBe(1);
  const message = /^filings: a defect in the program: TypeError: no version\n {2}hint: [^\n]*\n$/;
  expect(`${stderr.read()}`).toMatch(message);
});

test('an error whose presentation cannot be determined is one line without a secret', async () => {
  const stderr = new PassThrough();
  const world = deriveWorld(worldOf({ stderr }), {
    get env(): never {
      throw new Error('too many open files');
    },
  });
  world.secrets.add('a-long-secret');
  const error = new FilingsError('temporary', `${markForRedaction('https://user:a-long-secret@x')}: no answer`);
  expect(await reportError(error, {}, world)).toBe(7);
  expect(`${stderr.read()}`).toBe('filings: https://[redacted]@x: no answer\n');
});
