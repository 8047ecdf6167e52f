import { execFile, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { createReadStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, vi, test as vitestTest } from 'vitest';
import type { Sleep } from '../../src/abort.ts';
import { checkAccess } from '../../src/disk/secret-file.ts';
import { FilingsError } from '../../src/errors.ts';
import { readSecret, type SecretSource } from '../../src/settings/read-secret.ts';
import { heldClock } from '../held-clock.ts';
import { OWNER, temporaryFolder, worldOf } from '../settings-world.ts';

const test = vitestTest.extend('folder', async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  return folder;
});

const execute = promisify(execFile);
const CANARY = 'canary-0123456789';

const readKey = (source: SecretSource, world = worldOf()) => readSecret(source, 'API key', world);
const readToken = (source: SecretSource) => readSecret(source, 'JWT', worldOf());

describe('a key', () => {
  test('is read without a byte-order mark and one line break, and is redacted then', async ({ folder }) => {
    for (const content of [CANARY, `${CANARY}\n`, `${CANARY}\r\n`, `${CANARY}\r`, `\ufeff${CANARY}\r\n`]) {
      const world = worldOf();
      const path = await folder.file('key', content);
      expect(await readKey({ kind: 'file', path }, world)).toBe(CANARY);
      expect(await readKey({ kind: 'value', value: content }, world)).toBe(CANARY);
      expect(world.secrets.redact(`it is ${CANARY}.`)).toBe('it is [redacted].');
    }
  });

  test.for`
    fault                           | content                   | why
    ${'nothing but a line break'}   | ${'\n'}                   | ${'is empty'}
    ${'two line breaks at its end'} | ${`${CANARY}\n\n`}        | ${'contains a line break'}
    ${'a line break inside'}        | ${`${CANARY}\nX-Evil: 1`} | ${'contains a line break'}
    ${'a tab inside'}               | ${'canary\t0123456789'}   | ${'contains a tab'}
    ${'quotes of an env file'}      | ${`"${CANARY}"\n`}        | ${'is in quotes'}
    ${'a control character'}        | ${`${CANARY}\0`}          | ${'contains a character that is not allowed in a header'}
    ${'a letter beyond ASCII'}      | ${`${CANARY}é`}           | ${'contains a character that is not allowed in a header'}
    ${'a blank before it'}          | ${` ${CANARY}`}           | ${'begins or ends with white space'}
    ${'more than 8 KiB'}            | ${'canary'.repeat(1400)}  | ${'larger than 8 KiB'}
  `('with $fault is refused without being printed', async ({ content, why }: Record<string, string>, { folder }) => {
    const path = await folder.file('bad-key', content ?? '');
    const sources = [{ kind: 'file', path } as const, { kind: 'value', value: content ?? '' } as const];
    for (const source of sources) {
      const error = await readKey(source).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(why ?? '') });
      expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('canary');
    }
  });

  test('from stdin is the whole input', async () => {
    const stdin = new PassThrough().end(`${CANARY}\n`);
    expect(await readKey({ kind: 'stdin' }, worldOf({ stdin }))).toBe(CANARY);
  });

  test('from stdin is no longer waited for after an interrupt', async () => {
    const controller = new AbortController();
    const reading = readKey({ kind: 'stdin' }, worldOf({ interrupt: controller.signal }));
    const reason = new FilingsError('interrupted', 'interrupted: SIGINT', { signal: 2 });
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });
});

describe('a JWT', () => {
  const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2lnbmF0dXJl-_';

  test.for`
    pasted                       | content                                                              | seen
    ${'a Bearer credential'}     | ${`Bearer ${TOKEN}`}                                                 | ${"begins with 'Bearer'"}
    ${'a header line'}           | ${`Authorization: Bearer ${TOKEN}\n`}                                | ${'is a whole header line'}
    ${'quotes'}                  | ${`'${TOKEN}'`}                                                      | ${'is in quotes'}
    ${'the JSON of an endpoint'} | ${`{"access_token":"${TOKEN}","refresh_token":"canary.of.refresh"}`} | ${'is JSON'}
    ${'a token and a blank'}     | ${`${TOKEN} `}                                                       | ${'is not a JWT'}
  `(
    'is refused with a command that extracts it from $pasted',
    async (row: Record<string, string>, { folder, skip }) => {
      const { content: value = '', seen = '' } = row;
      const path = await folder.file('pasted token', value);
      const error = await readToken({ kind: 'file', path }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(seen) });
      expect(`${error.message} ${error.hint}`).not.toMatch(/eyJ|canary/);
      const command = error.hint.replace(/^[^:]*: /, '');
      // Many machines have no jq.
      skip(/\bjq /.test(command) && (await execute('jq', ['--version']).catch(() => undefined)) === undefined);
      await execute('sh', ['-c', command], { cwd: folder.path });
      expect(await readToken({ kind: 'file', path: join(folder.path, 'bare.jwt') })).toBe(TOKEN);
      const piped = await readToken({ kind: 'value', value }).catch((thrown) => thrown);
      expect(piped.hint).toMatch(/^to keep only the token, pipe it through: (?:jq|grep) /);
    },
  );

  test('is refused unless it has three parts of base64url', async () => {
    for (const value of ['a.b', 'a.b.c.d', 'a.b.', 'a.b=.c', 'opaque'])
      await expect(readToken({ kind: 'value', value }), value).rejects.toThrow('JWT: is not a JWT, which has three');
  });

  test.each(['opaque', 'Bearer opaque', '{"access_token":"opaque"}'])(
    'is refused without a command that would find nothing in %s',
    async (value) => {
      await expect(readToken({ kind: 'value', value })).rejects.toMatchObject({
        hint: 'make one with filings token sign',
      });
    },
  );

  test('from an empty file is refused as empty', async ({ folder }) => {
    const reading = readToken({ kind: 'file', path: await folder.file('empty', '\n') });
    await expect(reading).rejects.toMatchObject({ reason: 'is empty' });
  });
});

describe('a key file', () => {
  test('that other users can read is refused with a command that fixes its mode, and is closed', async ({ folder }) => {
    const path = await folder.ownFile('open key', CANARY, 0o640);
    const descriptors = readdirSync('/dev/fd').length;
    const refused = { code: 'config', hint: `chmod 600 '${path}'` };
    await expect(readKey({ kind: 'file', path }, worldOf({ uid: OWNER }))).rejects.toMatchObject(refused);
    await expect.poll(() => readdirSync('/dev/fd').length).toBe(descriptors);
  });

  test('that is a pipe to which others can write is refused before a byte of it', async ({ folder }) => {
    const path = join(folder.path, 'pipe');
    await execute('mkfifo', ['-m', '622', path]);
    const refused = { message: expect.stringContaining('other users can write it') };
    await expect(readKey({ kind: 'file', path })).rejects.toMatchObject(refused);
  });

  // Kubernetes, Swarm and systemd mount secrets as files of root, which the user of the service can read.
  const asOwner = 'run as the user who owns it (uid 500)';
  const [read, write, foreign] = ['other users can read it', 'other users can write it', 'another user owns it'];
  test.each`
    what                                           | protection   | reader       | owner  | mode     | fault        | hint
    ${'a mounted secret'}                          | ${'private'} | ${500}       | ${0}   | ${0o644} | ${undefined} | ${''}
    ${'a mounted secret of a group'}               | ${'private'} | ${500}       | ${0}   | ${0o440} | ${undefined} | ${''}
    ${'a mounted secret that root reads'}          | ${'private'} | ${0}         | ${0}   | ${0o444} | ${undefined} | ${''}
    ${'a secret of root that a group can write'}   | ${'private'} | ${500}       | ${0}   | ${0o460} | ${write}     | ${'sudo chmod go-w /k'}
    ${'a secret of root that all can write'}       | ${'private'} | ${0}         | ${0}   | ${0o602} | ${write}     | ${'chmod 600 /k'}
    ${'an own secret'}                             | ${'private'} | ${500}       | ${500} | ${0o400} | ${undefined} | ${''}
    ${'an own secret that all can read'}           | ${'private'} | ${500}       | ${500} | ${0o604} | ${read}      | ${'chmod 600 /k'}
    ${'a secret of another user'}                  | ${'private'} | ${0}         | ${500} | ${0o600} | ${foreign}   | ${`${asOwner}, or pass the key in the environment or on stdin`}
    ${'a secret on Windows, which has no modes'}   | ${'private'} | ${undefined} | ${0}   | ${0o666} | ${undefined} | ${''}
    ${'a config file of root'}                     | ${'trusted'} | ${500}       | ${0}   | ${0o644} | ${undefined} | ${''}
    ${'an own config file'}                        | ${'trusted'} | ${500}       | ${500} | ${0o644} | ${undefined} | ${''}
    ${'an own config file that a group can write'} | ${'trusted'} | ${500}       | ${500} | ${0o664} | ${write}     | ${'chmod 600 /k'}
    ${'a config file of a user, read by root'}     | ${'trusted'} | ${0}         | ${500} | ${0o644} | ${foreign}   | ${`${asOwner}, or make it yours: chown 0 /k`}
    ${'a config file of another user'}             | ${'trusted'} | ${700}       | ${500} | ${0o644} | ${foreign}   | ${`${asOwner}, or make it yours: sudo chown 700 /k`}
  `('the rule for $what', ({ protection, reader, owner, mode, fault, hint }) => {
    const check = () => checkAccess({ uid: owner, mode }, protection, 'key', '/k', { uid: reader });
    if (fault === undefined) check();
    else expect(check).toThrow(expect.objectContaining({ code: 'config', message: `key /k: ${fault}`, hint }));
  });

  test('is a regular file of at most 1 MiB', async ({ folder }) => {
    await folder.file('large', 'x'.repeat((1 << 20) + 1));
    const faults = {
      none: 'no such file',
      '.': 'not a regular',
      '/dev/zero': 'not a regular',
      large: 'larger than 1 MiB',
    };
    for (const [name, fault] of Object.entries(faults)) {
      const refused = { code: 'config', message: expect.stringContaining(fault) };
      await expect(readKey({ kind: 'file', path: resolve(folder.path, name) })).rejects.toMatchObject(refused);
    }
  });

  test('may be a pipe, whose writer is waited for', async ({ folder }) => {
    const path = join(folder.path, 'pipe');
    await execute('mkfifo', ['-m', '600', path]);
    const writing = execute('sh', ['-c', `exec > "$0"; sleep 0.1; echo ${CANARY}`, path]);
    // The writer waits for a reader when it opens the pipe. A reader without a writer finds the end at once.
    await expect.poll(() => readKey({ kind: 'file', path }).catch(() => '')).toBe(CANARY);
    await writing;
  });

  test('is not read to its end if it is a pipe of over 1 MiB', async ({ folder }) => {
    const path = join(folder.path, 'pipe');
    await execute('mkfifo', ['-m', '600', path]);
    const writing = execute('sh', ['-c', 'head -c 5000000 /dev/zero > "$0"', path]).catch(() => {});
    await expect
      .poll(() => readKey({ kind: 'file', path }).catch(({ message }) => message))
      .toMatch('larger than 1 MiB');
    await writing;
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

  test.for`
    command                     | argv                          | message
    ${'fails silently'}         | ${['false']}                  | ${'false: exited with status 1'}
    ${'ends by a signal'}       | ${['sh', '-c', 'kill -9 $$']} | ${'sh: was ended by SIGKILL'}
    ${'writes nothing'}         | ${['true']}                   | ${'true: is empty'}
    ${'does not exist'}         | ${['no-such-program-here']}   | ${'no-such-program-here: cannot be run: no such file'}
    ${'has NUL in an argument'} | ${['echo', 'a\0b']}           | ${'echo: cannot be run'}
  `('is an error if the command $command', async ({ argv, message }: { argv: string[]; message: string }) => {
    await expect(run(argv)).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(message) });
  });

  test('is read without waiting for a process that the command leaves behind with its stdout', async ({ folder }) => {
    const pidFile = join(folder.path, 'pid');
    // It may be an agent, so it is not ended. Killing a process that has ended throws.
    onTestFinished(() => void process.kill(Number(readFileSync(pidFile, 'utf8'))));
    expect(await run(['sh', '-c', `sleep 600 & echo $! > "$0"; printf ${CANARY}`, pidFile])).toBe(CANARY);
  });

  const onLinux = test.skipIf(process.platform !== 'linux');
  onLinux('is read even if the end of another process shows the end of the command first', async ({ folder }) => {
    const [pidFile, go] = [join(folder.path, 'pid'), join(folder.path, 'go')];
    const waitForEnd = (pid: unknown) => {
      while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
    };
    const script = 'echo $$ > "$0"; until [ -e "$1" ]; do :; done; printf $2';
    const key = run(['sh', '-c', script, pidFile, go, CANARY]);
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch('\n');
    const other = spawn('echo');
    // The loop has seen the output and the end of `echo`, but not yet those of the command.
    other.stdout.on('data', () => {
      writeFileSync(go, '');
      waitForEnd(readFileSync(pidFile, 'utf8').trim());
    });
    waitForEnd(other.pid);
    expect(await key).toBe(CANARY);
  });

  test('is registered as a secret even if the command fails, because the command may repeat it', async () => {
    const { secrets } = worldOf();
    const argv = ['sh', '-c', `echo ${CANARY}; echo "not ${CANARY}" >&2; exit 3`];
    const error = await run(argv, { secrets }).catch((thrown) => thrown);
    expect(secrets.redact(error.message)).toContain('sh: exited with status 3: not [redacted]');
  });

  test('leaves neither its time limit nor a listener behind', async () => {
    const { signal: interrupt } = new AbortController();
    const limits: AbortSignal[] = [];
    const sleep: Sleep = (_, signal) => {
      limits.push(signal);
      return new Promise(() => {});
    };
    expect(await run(['echo', CANARY], { interrupt, sleep })).toBe(CANARY);
    expect(limits.map(({ aborted }) => aborted)).toEqual([true]);
    expect(getEventListeners(interrupt, 'abort')).toEqual([]);
  });

  test('is given up after 30 seconds', async () => {
    const { pass, ...clock } = heldClock();
    const sleep = vi.fn(clock.sleep);
    const onError = vi.fn();
    const ended = run(['sleep', '600'], { sleep }).catch(onError);
    await expect.poll(() => sleep.mock.calls.length).toBe(1);
    await pass(29_999);
    expect(onError).not.toHaveBeenCalled();
    await pass(1);
    await ended;
    const message = expect.stringContaining('sleep: wrote no key within 30 s');
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'config', message }));
  });

  test.for`
    what                            | script
    ${'the command'}                | ${'echo >&3; exec sleep 600'}
    ${'what its shell has started'} | ${'sleep 600 & echo >&3; wait'}
  `('is no longer waited for after an interrupt, which ends $what', async (row: { script: string }, { folder }) => {
    const pipe = join(folder.path, 'pipe');
    await execute('mkfifo', [pipe]);
    const running = new AbortController();
    const key = run(['sh', '-c', `exec 3> "$0"; ${row.script}`, pipe], { interrupt: running.signal });
    // This stream ends with the last process that has the pipe open.
    const processes = createReadStream(pipe);
    await once(processes, 'data');
    running.abort(new FilingsError('interrupted', 'interrupted: SIGTERM', { signal: 15 }));
    await Promise.all([once(processes, 'end'), expect(key).rejects.toMatchObject({ exitStatus: 143 })]);
  });
});
