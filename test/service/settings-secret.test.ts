import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { checkAccess } from '../../src/disk/secret-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { readSecret, type SecretSource } from '../../src/settings/read-secret.ts';
import { heldClock } from '../held-clock.ts';
import { OWNER, temporaryFolder, worldOf } from '../settings-world.ts';

/** Returns whether a process runs. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const execute = promisify(execFile);
const CANARY = 'canary-0123456789';

const readKey = (place: SecretSource, world = worldOf()) => readSecret(place, 'API key', world);

const folder = await temporaryFolder();
afterAll(folder.remove);

describe('a key', () => {
  test.each([
    [CANARY, CANARY],
    [`${CANARY}\n`, CANARY],
    [`${CANARY}\r\n`, CANARY],
    [`${CANARY}\r`, CANARY],
    [`\ufeff${CANARY}\r\n`, CANARY],
  ])('is read from %j', async (content, key) => {
    const world = worldOf();
    const path = await folder.file('key', content);
    expect(await readKey({ kind: 'file', path }, world)).toBe(key);
    expect(await readKey({ kind: 'value', value: content }, world)).toBe(key);
    expect(world.secrets.redact(`it is ${key}.`)).toBe('it is [redacted].');
  });

  test.each([
    ['\n', 'is empty'],
    [`${CANARY}\n\n`, 'contains a line break'],
    [`${CANARY}\nX-Evil: 1`, 'contains a line break'],
    [`${CANARY}\0`, 'contains a character that is not allowed in a header'],
    [`${CANARY}é`, 'contains a character that is not allowed in a header'],
    [` ${CANARY}`, 'begins or ends with white space'],
  ])('is refused without being printed if it is %j', async (content, why) => {
    const path = await folder.file('bad-key', content);
    for (const source of [{ kind: 'file', path } as const, { kind: 'value', value: content } as const]) {
      const error = await readKey(source).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(why) });
      expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
    }
  });
});

describe('a JWT', () => {
  const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl-_';
  const readToken = (source: SecretSource) => readSecret(source, 'JWT', worldOf());

  test.each([
    ['alone', TOKEN],
    ['with a line break', `${TOKEN}\r\n`],
    ['with a byte-order mark', `\ufeff${TOKEN}`],
  ])('is read %s', async (_, content) => {
    expect(await readToken({ kind: 'value', value: content })).toBe(TOKEN);
    expect(await readToken({ kind: 'file', path: await folder.file('jwt', content) })).toBe(TOKEN);
  });

  test.each([
    ['a Bearer credential', `Bearer ${TOKEN}`, "begins with 'Bearer'"],
    ['a header line', `Authorization: Bearer ${TOKEN}\n`, 'is a whole header line'],
    ['single quotes', `'${TOKEN}'`, 'is in quotes'],
    ['double quotes', `"${TOKEN}"\n`, 'is in quotes'],
    ['the response of a token endpoint', `{"access_token":"${TOKEN}","refresh_token":"canary.of.refresh"}`, 'is JSON'],
    ['a blank at the end', `${TOKEN} `, 'is not a JWT: three parts of base64url'],
  ])('is refused with a command that extracts it from %s', async (_, content, seen) => {
    const path = await folder.file('pasted token', content);
    const error = await readToken({ kind: 'file', path }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(seen) });
    expect(`${error.message} ${error.hint}`).not.toMatch(/eyJ|canary/);
    const cwd = await mkdtemp(join(folder.path, 'run-'));
    await execute('sh', ['-c', error.hint.replace(/^[^:]*: /, '')], { cwd });
    expect(await readToken({ kind: 'file', path: join(cwd, 'bare.jwt') })).toBe(TOKEN);
    const piped = await readToken({ kind: 'value', value: content }).catch((thrown) => thrown);
    expect(piped.hint).toMatch(/^to keep only the token, pipe it through: (?:jq|grep) /);
  });

  test.each([
    ['two parts', 'a.b'],
    ['four parts', 'a.b.c.d'],
    ['no signature', 'a.b.'],
    ['padding', 'a.b=.c'],
    ['an opaque token', 'opaque'],
  ])('is refused if it has %s', async (_, value) => {
    await expect(readToken({ kind: 'value', value })).rejects.toThrow('JWT: is not a JWT: three parts of base64url');
  });
});

describe('a key file', () => {
  test.each(['640', '602'])('of mode %s is refused with a command that fixes the mode, and is closed', async (mode) => {
    const path = await folder.ownFile('open key', CANARY, Number.parseInt(mode, 8));
    const descriptors = readdirSync('/dev/fd').length;
    await expect(readKey({ kind: 'file', path }, worldOf({ uid: OWNER }))).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/others can (read|write) it/),
      hint: `chmod 600 '${path}'`,
    });
    expect(readdirSync('/dev/fd')).toHaveLength(descriptors);
  });

  // Kubernetes, Swarm and systemd mount secrets as files of root, which the user of the service can read.
  const asOwner = 'run as the user who owns it (uid 500)';
  const [read, write, foreign] = ['others can read it', 'others can write it', 'another user owns it'];
  test.each`
    what                                           | protection   | reader | owner  | mode     | fault        | hint
    ${'a mounted secret'}                          | ${'private'} | ${500} | ${0}   | ${0o644} | ${undefined} | ${''}
    ${'a mounted secret of a group'}               | ${'private'} | ${500} | ${0}   | ${0o440} | ${undefined} | ${''}
    ${'a mounted secret that root reads'}          | ${'private'} | ${0}   | ${0}   | ${0o444} | ${undefined} | ${''}
    ${'a secret of root that a group can write'}   | ${'private'} | ${500} | ${0}   | ${0o460} | ${write}     | ${'sudo chmod go-w /k'}
    ${'a secret of root that all can write'}       | ${'private'} | ${0}   | ${0}   | ${0o602} | ${write}     | ${'chmod 600 /k'}
    ${'an own secret'}                             | ${'private'} | ${500} | ${500} | ${0o400} | ${undefined} | ${''}
    ${'an own secret that all can read'}           | ${'private'} | ${500} | ${500} | ${0o604} | ${read}      | ${'chmod 600 /k'}
    ${'an own secret that a group can read'}       | ${'private'} | ${500} | ${500} | ${0o640} | ${read}      | ${'chmod 600 /k'}
    ${'a secret of another user'}                  | ${'private'} | ${0}   | ${500} | ${0o600} | ${foreign}   | ${`${asOwner}, or pass the key by the environment or stdin`}
    ${'a config file of root'}                     | ${'trusted'} | ${500} | ${0}   | ${0o644} | ${undefined} | ${''}
    ${'an own config file'}                        | ${'trusted'} | ${500} | ${500} | ${0o644} | ${undefined} | ${''}
    ${'an own config file that a group can write'} | ${'trusted'} | ${500} | ${500} | ${0o664} | ${write}     | ${'chmod 600 /k'}
    ${'a config file of a user, read by root'}     | ${'trusted'} | ${0}   | ${500} | ${0o644} | ${foreign}   | ${`${asOwner}, or make it yours: chown 0 /k`}
    ${'a config file of another user'}             | ${'trusted'} | ${700} | ${500} | ${0o644} | ${foreign}   | ${`${asOwner}, or make it yours: sudo chown 700 /k`}
  `('the rule for $what', ({ protection, reader, owner, mode, fault, hint }) => {
    const check = () => checkAccess({ uid: owner, mode }, protection, 'key', '/k', { uid: reader });
    if (fault === undefined) check();
    else expect(check).toThrow(expect.objectContaining({ code: 'config', message: `key /k: ${fault}`, hint }));
  });

  test.each([
    ['none', 'no such file'],
    ['.', 'not a regular file'],
    ['/dev/zero', 'not a regular file'],
    ['no-key', 'larger than 8 KiB'],
  ])('is refused if the path is not a key file: %s', async (name, message) => {
    await folder.file('no-key', 'x'.repeat(8 * 1024 + 1));
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
    [['sh', '-c', 'kill -9 $$'], 'sh: was ended by SIGKILL'],
    [['true'], 'true: is empty'],
    [['no-such-program-here'], 'no-such-program-here: cannot be run: no such file or directory (ENOENT)'],
    [['/'], '/: cannot be run: permission denied (EACCES)'],
    [['echo', 'a\0b'], 'echo: cannot be run'],
  ])('is an error if the command fails: %j', async (argv, message) => {
    await expect(run(argv)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) });
  });

  test('is registered as a secret even if the command fails, because the command may repeat it', async () => {
    const world = worldOf({ env: { PATH: '/usr/bin:/bin' } });
    const argv = ['sh', '-c', `echo ${CANARY}; echo "not ${CANARY}" >&2; exit 3`];
    const error = await readKey({ kind: 'command', argv }, world).catch((thrown) => thrown);
    expect(world.secrets.redact(error.message)).toBe(
      'API key of apiKeyCommand: sh: exited with status 3: not [redacted]',
    );
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

  test.each([
    ['the command', `echo $$ > "$0"; exec sleep 600`],
    ['what its shell has started', `sleep 600 & echo $! > "$0"; wait`],
    ['what its shell has left behind', `sleep 600 & echo $! > "$0"; echo ${CANARY}`],
  ])('is no longer waited for after an interrupt, which ends %s', async (_, script) => {
    const controller = new AbortController();
    const pidFile = join(await mkdtemp(join(folder.path, 'run-')), 'pid');
    const running = run(['sh', '-c', script, pidFile], { interrupt: controller.signal });
    const pid = async () => Number(await readFile(pidFile, 'utf8').catch(() => ''));
    await expect.poll(pid, { timeout: 60_000 }).toBeGreaterThan(0);
    controller.abort(new FilingsError('interrupted', 'interrupted: SIGTERM', { signal: 15 }));
    await expect(running).rejects.toMatchObject({ exitStatus: 143 });
    const process = await pid();
    await expect.poll(() => isRunning(process), { timeout: 60_000 }).toBe(false);
  });
});
