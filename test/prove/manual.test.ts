import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const MAN = join(import.meta.dirname, '../../man');

test.each(readdirSync(MAN))('mandoc prints no warning for %s', async (page) => {
  const options = { cwd: MAN, all: true, reject: false };
  const { all, exitCode } = await execa('mandoc', ['-Tlint', '-Wwarning', page], options);
  expect([exitCode, all]).toEqual([0, '']);
});
