import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { expect, onTestFinished, test } from 'vitest';
import { emptyPlace } from '../program/place.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/filings.js');
const PROMPT = 'e: edit again, x: give up, nothing is changed: ';

/** An editor that is wrong at first, then right, and reads a line from the terminal. */
const WRONG_AT_FIRST = [
  `if grep -q jobz "$1"; then printf 'number? '; read -r number; printf '{"jobs": %s}' "$number" > "$1"`,
  `else printf '{\\n"jobz": 3}' > "$1"; fi`,
];

/** `config edit` on a terminal. */
async function editing(lines: readonly string[] = WRONG_AT_FIRST) {
  const place = await emptyPlace();
  const config = join(place.home, '.config/filings/config.json');
  await mkdir(dirname(config), { recursive: true });
  await writeFile(config, '{"jobs": 2}', { mode: 0o600 });
  const editor = join(place.home, 'editor');
  await writeFile(editor, `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH ?? '', HOME: place.home, TMPDIR: place.home, EDITOR: editor, NO_COLOR: '1' };
  const terminal = spawn(process.execPath, [PROGRAM, 'config', 'edit'], { env, cwd: place.path, cols: 120, rows: 30 });
  onTestFinished(() => terminal.kill('SIGKILL'));
  let shown = '';
  const waiting: (() => void)[] = [];
  terminal.onData((text) => {
    shown += text;
    for (const look of waiting) look();
  });
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  const seen = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => shown.includes(text) && resolve();
      waiting.push(look);
      look();
    });
  return {
    seen,
    type: (text: string) => terminal.write(text),
    ended,
    shown: () => shown,
    text: () => readFile(config, 'utf8'),
  };
}

test('config edit tells what is wrong, and edits again what was written', async () => {
  const { seen, type, ended, shown, text } = await editing();
  await seen(PROMPT);
  expect(shown()).toContain('filings: line 2: jobz: no such setting');
  type('what?\r');
  await seen(`${PROMPT}what?\r\n${PROMPT}`);
  type('e\r');
  await seen('number? ');
  type('7\r');
  expect(await ended, shown()).toBe(0);
  expect(await text()).toBe('{"jobs": 7}');
});

test('config edit gives up when it is told to, and keeps the copy', async () => {
  const { seen, type, ended, shown, text } = await editing();
  await seen(PROMPT);
  type('x\r');
  expect(await ended).toBe(2);
  expect(await text()).toBe('{"jobs": 2}');
  const [, path = ''] = /what you wrote is in (\S+)/.exec(shown()) ?? [];
  expect(await readFile(path, 'utf8')).toBe('{\n"jobz": 3}');
});

test('config edit ends by Ctrl-C, also while it asks', async () => {
  const { seen, type, ended, text } = await editing();
  await seen(PROMPT);
  type('\u0003');
  expect(await ended).toBe(130);
  expect(await text()).toBe('{"jobs": 2}');
});

test('config edit leaves every Ctrl-C to an editor that takes it for a key', async () => {
  const editor = [
    `count=0; trap 'count=$((count + 1)); echo "key $count"' INT`,
    `echo ready; while [ $count -lt 3 ]; do sleep 0.1; done; printf '{"jobs": 8}' > "$1"`,
  ];
  const { seen, type, ended, shown, text } = await editing(editor);
  await seen('ready');
  for (const count of [1, 2, 3]) {
    type('\u0003');
    await seen(`key ${count}`);
  }
  expect(await ended, shown()).toBe(0);
  expect(await text()).toBe('{"jobs": 8}');
});

test('config edit is interrupted when a Ctrl-C ends the editor', async () => {
  const { seen, type, ended, shown, text } = await editing(['echo ready; exec sleep 600']);
  await seen('ready');
  type('\u0003');
  expect(await ended, shown()).toBe(130);
  expect(await text()).toBe('{"jobs": 2}');
});
