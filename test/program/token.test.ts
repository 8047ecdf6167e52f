import { createPrivateKey, createPublicKey } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { rsaPair } from '../key-pairs.ts';
import { pem } from '../service/jwt-forge.ts';
import * as program from './run.ts';

// One with RSA: to find its primes takes long.
const ALGORITHMS = ['PS256', 'ES256', 'ES384', 'ES512', 'HS256', 'HS384', 'HS512'];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-token-'));
  await filings('keygen', '--alg', 'ES256', '--out', 'ec.pem', '--public', 'ec.pub');
  const rsa = rsaPair('rsa');
  await file('rsa.pem', pem(rsa.privateKey));
  await file('rsa.pub', pem(rsa.publicKey), 0o644);
  await filings('keygen', '--alg', 'HS512', '--out', 'secret');
  await file('megabyte', '-----BEGIN '.repeat(80_000));
  return () => rm(folder, { recursive: true, force: true });
});

const wordsOf = (args: string | readonly string[]) => (typeof args === 'string' ? args.split(' ') : args);

/** Runs `filings token`, without a word of the surroundings. */
const run = (args: string | readonly string[], { input = '' } = {}) =>
  program.filings(['token', ...wordsOf(args)], { cwd: folder, env: { HOME: folder }, input });

/** As {@link run}, and it must succeed; its stdout without the last line break. */
async function filings(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args);
  if (exitCode !== 0) throw new Error(`filings token ${args.join(' ')}: ${exitCode}: ${stderr}`);
  return stdout.replace(/\n$/, '');
}

async function file(name: string, content: string | Buffer, mode = 0o600): Promise<string> {
  await writeFile(join(folder, name), content);
  await chmod(join(folder, name), mode);
  return name;
}

function decoded(token: string) {
  const [header = '', claims = ''] = token.split('.');
  return { header: JSON.parse(text(header)), claims: JSON.parse(text(claims)) };
}

function text(part: string): string {
  return Buffer.from(part, 'base64url').toString();
}

describe('token sign', () => {
  it('prints a token and a newline, with iat, nbf and exp', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { exitCode, stdout, stderr } = await run('sign --key ec.pem --sub s --name n --kid k');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { header, claims } = decoded(stdout);
    expect(header).toEqual({ alg: 'ES256', typ: 'JWT', kid: 'k' });
    expect(Object.keys(claims)).toEqual(['sub', 'name', 'iat', 'nbf', 'exp']);
    expect(claims).toMatchObject({ sub: 's', name: 'n', nbf: claims.iat, exp: claims.iat + 300 });
    expect(claims.iat - before).toBeGreaterThanOrEqual(0);
  });

  it('composes as a header, and as JSON', async () => {
    expect(await filings('sign', '--key', 'ec.pem', '--header')).toMatch(
      /^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+$/,
    );
    const { token, header, claims } = JSON.parse(await filings('--key', 'ec.pem', '--json'));
    expect(decoded(token)).toEqual({ header, claims });
  });

  it('writes a file of its own, 0600, that --jwt-file takes, in the place of an older one', async () => {
    await file('token.jwt', 'old', 0o644);
    const { exitCode, stdout, stderr } = await run('sign --key ec.pem --out token.jwt');
    expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
    expect((await stat(join(folder, 'token.jwt'))).mode & 0o777).toBe(0o600);
    const token = await readFile(join(folder, 'token.jwt'), 'utf8');
    expect(decoded(token).claims).toHaveProperty('exp');
    const list = ['list', '0001234567-24-000001', '--base-url', 'http://127.0.0.1:1', '--api-key', 'a-key-for-tests'];
    const asked = await program.filings([...list, '--jwt-file', 'token.jwt', '--retries', '0'], {
      cwd: folder,
      env: { HOME: folder },
    });
    expect(asked).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('connection refused') });
  });

  it.each([
    ['-', 2, 'must be a file'],
    ['', 2, 'must be a file'],
    ['.', 8, 'directory'],
    ['ec.pem', 2, 'ec.pem is the file that the key is read from'],
  ])('does not write to %j', async (out, status, reason) => {
    const { exitCode, stdout, stderr } = await run(['sign', '--key', 'ec.pem', '--out', out]);
    expect([exitCode, stdout, stderr]).toEqual([status, '', expect.stringContaining(reason)]);
  });

  it.each<[string, (iat: number) => object]>([
    ['--not-before 1h --lifetime 2m', (iat) => ({ nbf: iat + 3600, exp: iat + 3720 })],
    ['--not-before 2030-01-02T03:04:05Z', () => ({ nbf: 1_893_553_445, exp: 1_893_553_745 })],
    ['--not-before 1893553445 --lifetime 1d', () => ({ nbf: 1_893_553_445, exp: 1_893_639_845 })],
  ])('begins later: %s', async (args, expected) => {
    const { claims } = decoded(await filings('sign', '--key', 'ec.pem', ...wordsOf(args)));
    expect(claims).toMatchObject(expected(claims.iat));
  });

  it('warns of a line break in the secret', async () => {
    await file('text-secret', `${'s'.repeat(64)}\n`);
    const signed = await run('sign --secret-file text-secret');
    expect(signed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('ends in a line break') });
    expect((await run('sign --secret-file text-secret -q')).stderr).toBe('');
    const json = await run('sign --secret-file text-secret --error-format json');
    expect(JSON.parse(json.stderr)).toHaveProperty('note');
  });

  it('reads the key from stdin, and the passphrase from a file', async () => {
    const pem = await readFile(join(folder, 'rsa.pem'), 'utf8');
    expect((await run('sign --key -', { input: pem })).exitCode).toBe(0);
    const encrypted = createPrivateKey(pem).export({
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'geheim!',
    });
    await file('encrypted.pem', encrypted as string);
    await file('passphrase', 'geheim!\n');
    await file('wrong', 'wrong');
    const token = await filings('sign', '--key', 'encrypted.pem', '--passphrase-file', 'passphrase');
    expect(await filings('verify', token, '--key', 'rsa.pub')).toContain('"exp"');
    expect(await run('sign --key encrypted.pem')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--passphrase-file'),
    });
    expect(await run('sign --key encrypted.pem --passphrase-file wrong')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('the passphrase is wrong'),
    });
  });

  it("does what the config file's jwt says, and flags on top of it", async () => {
    const jwt = { keyFile: 'rsa.pem', alg: 'PS384', kid: 'from-config', sub: 'me', name: 'Me', lifetime: '90s' };
    await file('config.json', JSON.stringify({ jwt }));
    const config = ['--config', 'config.json'];
    const { header, claims } = decoded(await filings(...config));
    expect(header).toEqual({ alg: 'PS384', typ: 'JWT', kid: 'from-config' });
    expect(claims).toMatchObject({ sub: 'me', name: 'Me', exp: claims.nbf + 90 });
    const changed = decoded(await filings('sign', ...config, '--sub', 'you', '--lifetime', '5s', '--alg', 'RS256'));
    expect(changed).toMatchObject({
      header: { alg: 'RS256' },
      claims: { sub: 'you', name: 'Me', exp: changed.claims.nbf + 5 },
    });
    const own = decoded(await filings('sign', ...config, '--key', 'ec.pem'));
    expect(own.header).toEqual({ alg: 'ES256', typ: 'JWT' });
    expect(own.claims).not.toHaveProperty('sub');
    expect(await run([...config, '--claim', 'sub=x'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('claim sub: set twice'),
    });
  });

  it.each<[string, RegExp]>([
    ['sign', /no key to sign with[\s\S]*--key FILE or --secret-file FILE, or set 'jwt'/],
    ['sign --jwt-file x', /a token that is ready, not a key/],
    ['sign --key ec.pem --secret-file secret', /--key cannot be used with --secret-file/],
    ['sign --key - --api-key-file -', /--key - and --api-key-file -/],
    ['sign --secret-file secret --passphrase-file x', /--secret-file cannot be used with --passphrase-file/],
    ['sign --key ec.pem --header --json', /--header cannot be used with --json/],
    ['sign --key nope', /key file \S+nope: no such file/],
    ['sign --key .', /not a regular file/],
    ['sign --key ec.pub', /a public key, which can only verify/],
    ['sign --key ec.pem --alg ES384', /EC key on P-256, which is not for ES384/],
    ['sign --key megabyte', /megabyte: larger than 16 KiB/],
    ['sign --secret-file megabyte', /megabyte: larger than 16 KiB/],
    ['sign --key ec.pem --alg EdDSA', /--alg: must be an algorithm that the service takes .* not 'EdDSA'/],
    ['sign --key ec.pem --alg none', /--alg: must .* not 'none'/],
    ['sign --key ec.pem --lifetime 0s', /--lifetime: must be a duration of whole seconds/],
    ['sign --key ec.pem --lifetime 1500ms', /--lifetime: must be a duration of whole seconds/],
    ['sign --key ec.pem --lifetime soon', /--lifetime: must be a duration/],
    ['sign --key ec.pem --lifetime 9000000d', /after the year 9999/],
    ['sign --key ec.pem --not-before tomorrow', /--not-before: must be a duration, such as 30s, or a time/],
    ['sign --key ec.pem --claim a=1 --claim a=2', /claim a: set twice/],
    ['sign --key ec.pem --claim-json exp=1', /claim exp: set twice[\s\S]*--lifetime/],
    ['sign --key ec.pem --sub a --claim sub=b', /claim sub: set twice/],
    ['sign --key ec.pem --claim a', /--claim: must be NAME=VALUE/],
    ['sign --key ec.pem --claim =a', /--claim: must be NAME=VALUE/],
    ['sign --key ec.pem --claim-json a=x', /--claim-json: must be NAME=JSON/],
    ['sign --key ec.pem --claim-json a={"b":1,"b":2}', /without a member twice/],
    ['sign x --key ec.pem', /no such command/],
  ])('refuses %s', async (args, reason) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(reason);
  });

  it('refuses a key and a secret that others can read, with the chmod that mends it', async () => {
    await file('open.pem', await readFile(join(folder, 'ec.pem')), 0o640);
    await file('open-secret', Buffer.alloc(32), 0o604);
    expect(await run('sign --key open.pem')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/others can read it\n.*chmod 600 \S+\/open.pem/),
    });
    expect(await run('sign --secret-file open-secret')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/chmod 600 \S+\/open-secret/),
    });
    expect(await run('verify a.b.c --key open.pem')).toMatchObject({ exitCode: 2 });
  });
});

describe('token inspect', () => {
  it('shows all, marked as not verified', async () => {
    const token = await filings('sign', '--key', 'ec.pem', '--sub', 'alice', '--not-before', '2020-01-01T00:00:00Z');
    const shown = await filings('inspect', token);
    expect(shown).toMatch(/^NOT VERIFIED/);
    expect(shown).toContain('header\talg\t"ES256"\n');
    expect(shown).toContain('claims\tsub\t"alice"\n');
    expect(shown).toMatch(/claims\texp\t1577837100\t2020-01-01T00:05:00Z, expired \d+ d ago/);
    expect(shown).toMatch(/service\t\tthe service would object: expired \d+ d ago/);
    const json = JSON.parse((await run('inspect --json', { input: `${token}\n` })).stdout);
    expect(json).toMatchObject({
      verified: false,
      header: { alg: 'ES256' },
      claims: { sub: 'alice' },
      objections: [/expired/].map((r) => expect.stringMatching(r)),
    });
  });

  it('shows hostile text harmlessly', async () => {
    const hostile = '\x1b[2J\u202e\x9b\u2028\n';
    const header = Buffer.from('{"alg":"RS256"}').toString('base64url');
    const claims = Buffer.from(JSON.stringify({ [hostile]: hostile })).toString('base64url');
    for (const args of [[], ['--json']]) {
      const { exitCode, stdout } = await run(['inspect', `${header}.${claims}.AAAA`, ...args]);
      expect(exitCode).toBe(0);
      for (const unseen of ['\x1b', '\u202e', '\x9b', '\u2028']) expect(stdout).not.toContain(unseen);
    }
    expect(JSON.parse((await run(['inspect', `${header}.${claims}.AAAA`, '--json'])).stdout).claims).toEqual({
      [hostile]: hostile,
    });
  });

  it.each<[string, string, string, RegExp]>([
    ['an empty stdin', 'inspect', '', /token is empty/],
    ['an empty argument', 'inspect ', '', /token is empty/],
    ['two parts', 'inspect a.b', '', /three parts, this has 2/],
    ['four parts', 'inspect -', 'a.b.c.d\n', /this has 4/],
    ['a token of 1 MB', 'inspect', 'A'.repeat(1_000_000), /over 64 KiB/],
    ['a token of 2 MB', 'inspect', 'A'.repeat(2_000_000), /over 64 KiB/],
    ['text', 'inspect a.b.c', '', /header part/],
  ])('refuses %s as format, exit 4', async (_, args, input, reason) => {
    const { exitCode, stdout, stderr } = await run(args, { input });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toMatch(/^filings: the token cannot be read \(format\): /);
    expect(stderr).toMatch(reason);
    const json = await run([...wordsOf(args), '--json'], { input });
    expect(JSON.parse(json.stdout)).toMatchObject({ verified: false, failed_check: 'format' });
  });
});

describe('token verify', () => {
  it.each(ALGORITHMS)('%s, from keygen to verify', async (alg) => {
    const isSecret = alg.startsWith('HS');
    const [flag, verifying] = isSecret ? ['--secret-file', `${alg}.key`] : ['--key', `${alg}.pub`];
    await filings('keygen', '--alg', alg, '--out', `${alg}.key`, ...(isSecret ? [] : ['--public', `${alg}.pub`]));
    const token = await filings('sign', '--alg', alg, flag as string, `${alg}.key`, '--sub', 'x');
    const json = JSON.parse(await filings('verify', token, flag as string, verifying as string, '--json'));
    expect(json).toEqual({ valid: true, ...decoded(token) });
    expect(json.header.alg).toBe(alg);
  });

  it('takes one line break after a token from stdin, and none in an argument', async () => {
    const token = await filings('sign', '--key', 'ec.pem');
    for (const end of ['', '\n', '\r\n']) {
      expect((await run('verify --key ec.pub', { input: token + end })).exitCode).toBe(0);
    }
    for (const [argument, input] of [
      [`${token}\n`, ''],
      ['-', `${token}\n\n`],
      ['-', ` ${token}`],
    ] as const) {
      const { exitCode, stdout } = await run(['verify', argument, '--key', 'ec.pub', '--json'], { input });
      expect(exitCode).toBe(4);
      expect(JSON.parse(stdout)).toMatchObject({ valid: false, failed_check: 'format' });
    }
  });

  it('explains what is wrong, and by how much', async () => {
    const token = await filings('sign', '--key', 'ec.pem', '--not-before', '1800000094');
    await filings('keygen', '--alg', 'ES256', '--out', 'other.pem', '--public', 'other.pub');
    const early = 'nbf is 94 s in the future: is a clock wrong?';
    for (const [args, check, why] of [
      ['--key ec.pub --at 1800000000', 'claims', early],
      ['--key ec.pub --at 2027-01-15T08:00:00Z', 'claims', early],
      ['--key ec.pub --at 1800000000 --leeway 93s', 'claims', early],
      ['--key ec.pub --at 1800011194', 'claims', 'expired 3 h ago'],
      ['--key rsa.pub', 'key', 'the key is an RSA key of 2048 bits, which is not for ES256'],
      ['--secret-file secret', 'key', 'the key is a secret of 64 bytes, which is not for ES256'],
      ['--key ec.pub --alg RS256 --alg ES384', 'header', 'alg is ES256, and only RS256, ES384 may be used'],
      ['--key other.pub', 'signature', expect.stringContaining('another key')],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(['verify', token, ...wordsOf(args), '--json']);
      const verdict = JSON.parse(stdout);
      expect({ exitCode, ...verdict }).toEqual({ exitCode: 4, valid: false, failed_check: check, reason: why });
      expect(stderr).toContain(`(${check}): ${verdict.reason}`);
    }
    expect((await run(['verify', token, '--key', 'ec.pub', '--at', '1800000000', '--leeway', '94s'])).exitCode).toBe(0);
  });

  it('prints the claims exactly as they were signed, in one line, hostile ones harmlessly', async () => {
    const given = { big: '9007199254740993', 2: '1.0', 1: '[-0,1e400]', __proto: '{}' };
    const claims = Object.entries(given).flatMap(([name, json]) => ['--claim-json', `${name}=${json}`]);
    const spread = '{ "a b" : [ "\\" \\n", "\u202e" ],\n "c": 1E-400 }';
    const more = ['--claim', 'a=b=c', '--claim', '__proto__=x', '--claim-json', `x=${spread}`];
    const token = await filings('sign', '--key', 'ec.pem', ...claims, ...more);
    const first = ',"a":"b=c","__proto__":"x","1":[-0,1e400],"2":1.0,"big":9007199254740993,"__proto":{}';
    expect(text(token.split('.')[1] ?? '')).toContain(`${first},"x":${spread}}`);
    const shown = `${first},"x":{"a b":["\\" \\n","\\u202e"],"c":1E-400}}`;
    expect(await filings('verify', token, '--key', 'ec.pub')).toContain(shown);
    expect(await filings('verify', token, '--key', 'ec.pem', '--json')).toContain(`${shown}}`);
  });

  it.each<[string, RegExp]>([
    ['verify a.b.c', /no key: give --key FILE/],
    ['verify - --key -', /--key - and TOKEN: stdin has one user/],
    ['verify --key -', /--key - and TOKEN/],
    ['verify a.b.c --key ec.pub --alg none', /--alg: must/],
    ['verify a.b.c --key ec.pub --leeway 5', /--leeway: must be a duration/],
    ['verify a.b.c --key ec.pub --at now', /--at: must be a time/],
    ['verify a.b.c --key nope', /no such file/],
  ])('refuses %s', async (args, reason) => {
    const { exitCode, stderr } = await run(args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(reason);
  });
});

describe('token keygen', () => {
  it('writes a private key for its owner alone, and prints the public part and what to do with it', async () => {
    const { exitCode, stdout, stderr } = await run('keygen --alg ES384 --out new.pem --public new.pub --kid k1');
    expect(exitCode).toBe(0);
    const written = createPublicKey(await readFile(join(folder, 'new.pem'), 'utf8'));
    expect(await readFile(join(folder, 'new.pub'), 'utf8')).toBe(written.export({ format: 'pem', type: 'spki' }));
    expect(stdout).toBe('');
    expect((await stat(join(folder, 'new.pem'))).mode & 0o777).toBe(0o600);
    expect(stderr).toContain("import new.pub into the service's customer portal");
    expect(stdout + stderr).not.toContain('PRIVATE KEY');
  });

  it('writes JWKs', async () => {
    const out = JSON.parse(
      await filings('keygen', '--alg', 'ES512', '--format', 'jwk', '--out', 'k.jwk', '--kid', 'k'),
    );
    expect(out).toMatchObject({ kty: 'EC', crv: 'P-521', use: 'sig', alg: 'ES512', kid: 'k' });
    expect(out).not.toHaveProperty('d');
    expect(decoded(await filings('sign', '--key', 'k.jwk')).header).toEqual({ alg: 'ES512', typ: 'JWT', kid: 'k' });
    await filings('keygen', '--alg', 'HS256', '--format', 'jwk', '--out', 'oct.jwk');
    expect(await filings('verify', await filings('sign', '--key', 'oct.jwk'), '--key', 'oct.jwk')).toContain('"exp"');
  });

  it('writes a secret of the length of the hash, and says nothing of it', async () => {
    const { stdout, stderr } = await run('keygen --alg HS384 --out hs384');
    const secret = await readFile(join(folder, 'hs384'));
    expect(secret).toHaveLength(48);
    expect((await stat(join(folder, 'hs384'))).mode & 0o777).toBe(0o600);
    expect(stdout).toBe('');
    for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const)
      expect(stderr).not.toContain(secret.toString(encoding));
  });

  it('overwrites nothing, follows no link, and leaves nothing half done', async () => {
    await file('there', 'mine');
    await symlink('nowhere', join(folder, 'link'));
    for (const args of [
      ['--out', 'there'],
      ['--out', 'link'],
      ['--out', 'fresh', '--public', 'there'],
      ['--out', 'fresh', '--public', 'fresh'],
    ]) {
      const { exitCode, stdout, stderr } = await run(['keygen', '--alg', 'ES256', ...args]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain('already exists, and is not overwritten');
    }
    expect(await readFile(join(folder, 'there'), 'utf8')).toBe('mine');
    const names = await readdir(folder);
    expect(names).not.toContain('fresh');
    expect(names).not.toContain('nowhere');
  });

  it.each<[string, number, RegExp]>([
    ['--out x', 2, /give both --alg ALG and --out FILE/],
    ['--alg ES256', 2, /give both --alg ALG and --out FILE/],
    ['--alg EdDSA --out x', 2, /--alg: must/],
    ['--alg ES256 --out -', 2, /--out: must be a file, not stdout/],
    ['--alg HS256 --out x --public y', 2, /no public key/],
    ['--alg ES256 --out x --format der', 2, /--format: must be pem or jwk/],
    ['--alg ES256 --out no/x', 8, /the directory is not there/],
  ])('refuses %s', async (args, status, reason) => {
    const { exitCode, stderr } = await run(['keygen', ...wordsOf(args)]);
    expect(exitCode).toBe(status);
    expect(stderr).toMatch(reason);
  });
});

describe('private keys and secrets', () => {
  it('appear in no output, however loud and wrong', async () => {
    const pem = await readFile(join(folder, 'rsa.pem'), 'utf8');
    const lines = pem.split('\n').filter((line) => line.length > 40);
    await file('canary-secret', `canary-secret-${'x'.repeat(30)}`);
    await file('short-secret', 'canary-secret-short');
    await file('broken.jwk', '{"kty":"oct","k":"canary-secret-in-broken-json",}');
    await file('cut.pem', pem.slice(0, 900));
    await file('two.pem', pem + pem);
    const outputs = await Promise.all([
      run('sign --key rsa.pem -v'),
      run('sign --key rsa.pem --alg ES256 -v'),
      run('sign --secret-file rsa.pem -v'),
      run('sign --secret-file short-secret -v'),
      run('sign --secret-file canary-secret -v'),
      run('sign --key canary-secret -v'),
      run('sign --key broken.jwk -v --error-format json'),
      run('sign --key cut.pem -v'),
      run('sign --key two.pem -v'),
      run('sign --key - -v', { input: pem.replaceAll('A', 'B') }),
      run('verify a.b.c --key rsa.pem -v'),
    ]);
    for (const { stdout, stderr } of outputs) {
      expect(stdout + stderr).not.toContain('canary-secret-');
      for (const line of lines) expect(stdout + stderr).not.toContain(line.slice(0, 24));
    }
  });
});
