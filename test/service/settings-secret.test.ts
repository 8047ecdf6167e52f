import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { chown, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { checkAccess } from '../../src/disk/secret-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { readSecret, type SecretSource } from '../../src/settings/read-secret.ts';
import { heldClock } from '../held-clock.ts';
import { temporaryFolder, worldOf } from '../settings-world.ts';
import { isRunning } from './transfer-fixture.ts';

const execute = promisify(execFile);
const CANARY = 'canary-0123456789';

const readKey = (place: SecretSource, world = worldOf()) => readSecret(place, 'API key', world);
const asRoot = test.skipIf(process.geteuid?.() !== 0);

const folder = await temporaryFolder();
afterAll(folder.remove);

describe('a key', () => {
  test.each([
    [CANARY, CANARY],
    [`${CANARY}\n`, CANARY],
    [`${CANARY}\r\n`, CANARY],
    ['two words', 'two words'],
  ])('is read from %j', async (content, key) => {
    const world = worldOf();
    const path = await folder.file('key', content);
    expect(await readKey({ kind: 'file', path }, world)).toBe(key);
    expect(await readKey({ kind: 'value', value: content }, world)).toBe(key);
    expect(world.secrets.redact(`it is ${key}.`)).toBe('it is [redacted].');
  });

  test.each([
    ['\n', 'is empty'],
    [`${CANARY}\n\n`, 'has a line break inside'],
    [`${CANARY}\nX-Evil: 1`, 'has a line break inside'],
    [`${CANARY}\rx`, 'has a line break inside'],
    [`${CANARY}\0`, 'has a character that no header may hold'],
    [`${CANARY}\x7f`, 'has a character that no header may hold'],
    [`${CANARY}é`, 'has a character that no header may hold'],
    [` ${CANARY}`, 'begins or ends with a blank'],
  ])('is refused without being printed if it is %j', async (content, why) => {
    const path = await folder.file('bad-key', content);
    for (const source of [{ kind: 'file', path } as const, { kind: 'value', value: content } as const]) {
      const error = await readKey(source).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(why) });
      expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
    }
  });
});

describe('a key file', () => {
  test.each(['640', '604', '620', '602'])(
    'of mode %s is refused with a command that fixes the mode, and is closed',
    async (mode) => {
      const path = await folder.file('open key', CANARY, Number.parseInt(mode, 8));
      const descriptors = readdirSync('/dev/fd').length;
      await expect(readKey({ kind: 'file', path })).rejects.toMatchObject({
        code: 'config',
        message: expect.stringMatching(/others can (read|write) it/),
        hint: `chmod 600 '${path}'`,
      });
      expect(readdirSync('/dev/fd')).toHaveLength(descriptors);
    },
  );

  asRoot('of another user is refused', async () => {
    const path = await folder.file('foreign', CANARY);
    await chown(path, 12345, 12345);
    await expect(readKey({ kind: 'file', path })).rejects.toThrow('another user owns it');
  });

  // systemd 254 and later provide the files of LoadCredential= like this: owned by root, with an access list for the
  // user of the service.
  test.each([
    ['private', '/key', 0, 0o400, ''],
    ['private', '/key', 0, 0o440, 'read'],
    ['private', '/run/given/key', 0, 0o440, ''],
    ['private', '/run/given/deep/key', 0, 0o440, 'read'],
    ['private', '/run/given', 0, 0o440, 'read'],
    ['private', '/run/given/key', 0, 0o444, 'read'],
    ['private', '/run/given/key', 0, 0o460, 'write'],
    ['private', '/run/given/key', 12345, 0o440, 'read'],
    ['trusted', '/key', 12345, 0o644, ''],
    ['trusted', '/key', 0, 0o664, 'write'],
  ] as const)('%s, at %s, of user %i, mode %o, is open to others: "%s"', (protection, path, uid, mode, others) => {
    const world = worldOf({ uid: 12345, env: { CREDENTIALS_DIRECTORY: '/run/given' } });
    const check = () => checkAccess({ uid, mode }, protection, 'key', path, world);
    if (others === '') check();
    else expect(check).toThrow(`others can ${others} it`);
  });

  test.each([
    ['none', 'no such file'],
    ['.', 'not a regular file'],
    ['/dev/zero', 'not a regular file'],
    ['large', 'larger than 1 MiB'],
    ['no-key', 'larger than 64 KiB'],
  ])('is refused if the path is not a key file: %s', async (name, message) => {
    await folder.file('large', 'x'.repeat(1024 * 1024 + 1));
    await folder.file('no-key', 'x'.repeat(64 * 1024 + 1));
    await expect(readKey({ kind: 'file', path: resolve(folder.path, name) })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(message),
    });
  });

  test('may be a pipe, whose writer is waited for', async () => {
    const path = join(folder.path, 'pipe');
    await execute('mkfifo', ['-m', '600', path]);
    const writing = execute('sh', ['-c', `exec > "$0"; sleep 0.1; echo ${CANARY}`, path]);
    // The writer waits for a reader when it opens the pipe. A reader without a writer finds the end at once.
    await expect.poll(() => readKey({ kind: 'file', path }).catch(() => ''), { timeout: 60_000 }).toBe(CANARY);
    await writing;
  });
});

describe('a key from stdin', () => {
  test('is the whole input', async () => {
    const stdin = new PassThrough().end(`${CANARY}\n`);
    expect(await readKey({ kind: 'file', path: '-' }, worldOf({ stdin }))).toBe(CANARY);
  });

  test('is no longer waited for after an interrupt', async () => {
    const controller = new AbortController();
    const reading = readKey({ kind: 'file', path: '-' }, worldOf({ interrupt: controller.signal }));
    const reason = new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2 });
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

describe('a key from a command', () => {
  const run = (argv: readonly string[], overrides: Parameters<typeof worldOf>[0] = {}) =>
    readKey({ kind: 'command', argv }, worldOf({ env: { PATH: '/usr/bin:/bin' }, ...overrides }));

  test('is the first line of stdout of a process without a shell and without input', async () => {
    expect(await run(['printf', `${CANARY}\nuser: me\n`])).toBe(CANARY);
    expect(await run(['echo', '$HOME;', 'exit'])).toBe('$HOME; exit');
    expect(await run(['sh', '-c', `cat; echo ${CANARY}`])).toBe(CANARY);
  });

  test.each([
    [['false'], 'false: exited with status 1'],
    [['sh', '-c', 'echo nothing there >&2; exit 3'], 'sh: exited with status 3: nothing there'],
    [['sh', '-c', `echo ${CANARY}; echo "not ${CANARY}" >&2; exit 3`], 'sh: exited with status 3: not [redacted]'],
    [['sh', '-c', 'kill -9 $$'], 'sh: was ended by SIGKILL'],
    [['true'], 'true: is empty'],
    [['no-such-program-here'], 'no-such-program-here: no such program'],
    [['/'], '/: cannot be run: permission denied (EACCES)'],
    [['head', '-c', '2000000', '/dev/zero'], 'head: cannot be run'],
    [['echo', 'a\0b'], 'echo: cannot be run'],
  ])('is an error if the command fails: %j', async (argv, message) => {
    await expect(run(argv)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) });
  });

  test('is given up after 30 seconds', async () => {
    const { pass, ...clock } = heldClock();
    const sleep = vi.fn(clock.sleep);
    const onError = vi.fn();
    const ended = run(['sleep', '600'], { sleep }).catch(onError);
    await expect.poll(() => sleep.mock.calls.length, { timeout: 60_000 }).toBe(1);
    await pass(29_999);
    expect(onError).not.toHaveBeenCalled();
    await pass(1);
    await ended;
    const message = 'API key of apiKeyCommand: sleep: wrote no key within 30 s';
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'config', message }));
  });

  test('is no longer waited for after an interrupt, which ends the command', async () => {
    const controller = new AbortController();
    const pidFile = join(folder.path, 'pid');
    const running = run(['sh', '-c', `echo $$ > '${pidFile}'; exec sleep 600`], { interrupt: controller.signal });
    const pid = async () => Number(await readFile(pidFile, 'utf8').catch(() => ''));
    await expect.poll(pid, { timeout: 60_000 }).toBeGreaterThan(0);
    controller.abort(new FilingsError('interrupted', 'interrupted: SIGTERM', { signal: 15 }));
    await expect(running).rejects.toMatchObject({ exitStatus: 143 });
    const child = await pid();
    await expect.poll(() => isRunning(child), { timeout: 60_000 }).toBe(false);
  });
});
