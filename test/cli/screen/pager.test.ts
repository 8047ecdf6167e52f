import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from '../program.ts';
import { CTRL_C, screen } from './screen.ts';

/** The path to a program that is called `man`. */
async function reader(script: string): Promise<string> {
  const { path } = await workplace();
  await mkdir(join(path, 'bin'));
  const man = join(path, 'bin/man');
  await writeFile(man, `#!/bin/sh\n${script}\n`);
  await chmod(man, 0o755);
  return `${join(path, 'bin')}:${process.env.PATH}`;
}

test('every Ctrl-C is the pager’s that takes it for a key', async () => {
  const script = `count=0; trap 'count=$((count + 1)); echo "key $count"' INT; echo ready
    while [ $count -lt 3 ]; do sleep 0.1; done; echo over`;
  const page = await screen(['help', '--man', 'list'], { env: { PATH: await reader(script) } });
  await page.shows((lines) => lines.includes('ready'));
  for (const count of [1, 2, 3]) {
    page.type(CTRL_C);
    await page.shows((lines) => lines.some((line) => line.endsWith(`key ${count}`)));
  }
  expect(await page.ended).toBe(0);
  expect(page.lines().at(-1)).toBe('over');
});

test('a Ctrl-C that ends the pager ends the program', async () => {
  const page = await screen(['help', '--man', 'list'], { env: { PATH: await reader('echo ready; exec sleep 600') } });
  await page.shows((lines) => lines.includes('ready'));
  page.type(CTRL_C);
  expect(await page.ended).toBe(130);
});
