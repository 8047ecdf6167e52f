import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { BIN } from './program.ts';

describe('where stdout goes', () => {
  const shell = (script: string) =>
    execa('bash', ['-c', script], { env: { NODE: process.execPath, BIN }, reject: false });

  test.each(['--help', '-h', 'download -h', 'help config'])('%s into a closed pipe: all is well', async (args) => {
    const { stdout, stderr } = await shell(`"$NODE" "$BIN" ${args} | true; echo "$PIPESTATUS"`);
    expect({ stdout, stderr }).toEqual({ stdout: '0', stderr: '' });
  });

  test.each(['--help', '--version', 'help exit-codes', 'completion bash', 'config path'])(
    '%s on a full disk is an error',
    async (args) => {
      const { exitCode, stderr } = await shell(`HOME=/ "$NODE" "$BIN" ${args} > /dev/full`);
      expect(exitCode).toBe(8);
      expect(stderr).toMatch(/^filings: stdout: cannot write: the disk is full\n/);
    },
  );

  test('a long text into a slow pipe comes whole', async () => {
    const { stdout } = await shell('"$NODE" "$BIN" completion zsh | { sleep 0.3; cat; }');
    expect(`${stdout}\n`).toBe(await readFile('completions/filings.zsh', 'utf8'));
  });

  test('a broken stderr changes no exit status', async () => {
    expect((await shell('"$NODE" "$BIN" nonsense 2> /dev/full')).exitCode).toBe(2);
    expect((await shell('{ "$NODE" "$BIN" nonsense; echo $? >&3; } 3>&1 2>&1 >/dev/null | :; true')).exitCode).toBe(0);
  });
});
