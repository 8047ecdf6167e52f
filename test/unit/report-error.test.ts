import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { foreign, Secrets } from '../../src/secrets.ts';
import { reportError } from '../../src/session/report-error.ts';
import { deriveWorld } from '../../src/world.ts';
import { worldOf } from '../settings-world.ts';

test('an error whose presentation cannot be determined is one line without a secret', async () => {
  const stderr = new PassThrough();
  const secrets = new Secrets();
  secrets.add('a-long-secret');
  const world = deriveWorld(worldOf({ stderr, secrets }), {
    get env(): never {
      throw new Error('too many open files');
    },
  });
  const error = new FilingsError('temporary', `${foreign('https://user:a-long-secret@x')}: no answer`, {
    hint: 'run it again',
  });
  expect(await reportError(error, {}, world)).toBe(7);
  expect(stderr.read().toString()).toBe('filings: https://[redacted]@x: no answer\n');
});
