import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACCESSION, BIN, type Workplace, workplace } from './program.ts';

const DOWNLOAD = `--sandbox download ${ACCESSION}`;

/** Creates the directory `all` with a SHA256SUMS of missing files. The findings exceed the buffer of a pipe. */
async function manyMissing(place: Workplace): Promise<void> {
  await mkdir(join(place.path, 'all'));
  const lines = Array.from({ length: 6000 }, (_, index) => `${'0'.repeat(64)}  f${index}\n`);
  await writeFile(join(place.path, 'all/SHA256SUMS'), lines.join(''));
}

test.each(['--help', 'help config'])('%s exits with 0 if its pipe is closed', async (args) => {
  const { shell } = await workplace();
  const { stdout, stderr } = await shell(`$FILINGS ${args} | true; echo "\${PIPESTATUS[0]}"`);
  expect([stdout.toString(), stderr]).toEqual(['0\n', '']);
});

test.each(['--version', 'completion bash', 'config path', 'serve --port 0', 'verify all -q'])(
  '%s exits with 8 if stdout is on a full disk',
  async (args) => {
    const place = await workplace();
    await manyMissing(place);
    const { exitCode, stderr } = await place.shell(`exec $FILINGS ${args} > /dev/full`);
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/^filings: stdout: cannot write: the disk is full\n/m);
  },
);

test('a long text arrives completely at a slow reader', async () => {
  const { shell } = await workplace();
  const { stdout } = await shell('$FILINGS completion zsh | { sleep 0.3; cat; }');
  expect(stdout).toEqual(await readFile(join(BIN, '../../completions/filings.zsh')));
});

test('a broken stderr does not change the exit status', async () => {
  const { shell } = await workplace();
  expect((await shell('exec $FILINGS nonsense 2> /dev/full')).exitCode).toBe(2);
  const { stdout } = await shell('{ { $FILINGS nonsense; echo $? >&3; } 2>&1 >/dev/null | :; } 3>&1');
  expect(stdout.toString()).toBe('2\n');
});

test.each<[what: string, line: string, status: number, read: string]>([
  ['a report', `${DOWNLOAD} primary.htm R1.htm ex99-1.htm -j 1 -q --report - | true`, 141, ''],
  ['the findings of verify', 'verify all -q | head -c1', 0, 'm'],
])('a closed pipe ends the run without a message: %s', async (_, line, status, read) => {
  const place = await workplace();
  await manyMissing(place);
  const { stdout, stderr } = await place.shell(`$FILINGS ${line} >&2; echo "\${PIPESTATUS[0]}"`);
  expect([stdout.toString(), stderr]).toEqual([`${status}\n`, read]);
});

const LATE = '--deadline 1s';
test.each<[what: string, line: string, env?: Record<string, string>]>([
  ['a report without a reader', `${DOWNLOAD} primary.htm ${LATE} --report fifo`],
  ['an input without a writer', `--sandbox list ${LATE} --input fifo`],
  ['a config file without a writer', `--config fifo list ${LATE} ${ACCESSION}`],
  ['a key without a writer', `token sign ${LATE} --key fifo`],
  ['stdin without data', `token inspect ${LATE} <&9`],
  ['a prompt without an answer', 'config set api-key <&9', { FILINGS_CONFIG: 'config.json', FILINGS_DEADLINE: '1s' }],
])('%s does not delay the end of the run at the deadline', async (_, line, env) => {
  const place = await workplace();
  const open = line.endsWith('<&9') ? 'exec 9<> fifo;' : '';
  const { stdout } = await place.shell(`mkfifo -m 600 fifo; ${open} $FILINGS ${line} 2>&1; echo "exit $?"`, env);
  expect(stdout.toString()).toMatch(/the deadline of 1 s has passed.*\n.*\nexit 7\n$/);
});

test.each([
  ['--sandbox list -i -', /^filings: --input -: it is a directory\n {2}hint: .*\nexit 2\n$/],
  ['--sandbox download -i - --all', /^filings: --input -: it is a directory\n {2}hint: .*\nexit 2\n$/],
  ['token inspect', /^filings: .*cannot be read: .*EISDIR.*\nexit 2\n$/],
])('%s fails if stdin is a directory', async (line, says) => {
  const { shell } = await workplace();
  const { stdout } = await shell(`$FILINGS ${line} < . 2>&1; echo "exit $?"`);
  expect(stdout.toString()).toMatch(says);
});

test('a usage error is reported without waiting for a config file that is a FIFO', async () => {
  const place = await workplace();
  const script = 'mkfifo -m 600 fifo; $FILINGS --config fifo list --bogus 2>&1; echo "exit $?"';
  const { stdout } = await place.shell(script);
  expect(stdout.toString()).toMatch(/^filings: unknown option '--bogus'\n.*\nexit 2\n$/);
});

test('a FIFO with a slow writer is read completely', async () => {
  const place = await workplace();
  const lines = 'for i in 1 2 3; do sleep 0.1; echo 0001234567-24-00000$i; done';
  const { stdout } = await place.shell(`mkfifo fifo; { ${lines}; } > fifo & $FILINGS --sandbox list --input fifo`);
  expect(new Set(stdout.toString().match(/^[\d-]+/gm)).size).toBe(3);
});

test('a working directory that was removed is reported with a hint', async () => {
  const place = await workplace();
  const { stdout } = await place.shell(
    `mkdir gone && cd gone && rmdir ../gone && $FILINGS ${DOWNLOAD} --all 2>&1; echo "exit $?"`,
  );
  expect(stdout.toString()).toMatch(/^filings: the working directory no longer exists\n {2}hint: .*\nexit 8\n$/);
});

test('-o of a device that is not there fails at once, as of /dev/tty without a terminal', async () => {
  const place = await workplace();
  // In a session of its own the program has no terminal.
  const args = ['--sandbox', 'download', ACCESSION, 'primary.htm', '-o', '/dev/tty'];
  const { exitCode, stderr } = await place.filings(args, {}, { detached: true, timeout: 30_000 });
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/\/dev\/tty: cannot write: /);
});
