import { createPublicKey } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { rsaPair } from '../key-pairs.ts';
import { part, pem } from '../service/jwt-forge.ts';
import * as program from './run.ts';

// Only one is RSA, because generating RSA keys takes long.
const ALGORITHMS = ['PS256', 'ES384', 'HS512'];

const RSA = rsaPair('rsa');
const PEM = `${pem(RSA.privateKey)}`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filings-token-'));
  await filings('keygen --alg ES256 --out ec.pem --public ec.pub');
  await filings('keygen --alg HS512 --out secret');
  await file('rsa.pem', PEM);
  await file('rsa.pub', pem(RSA.publicKey), 0o644);
  await file('open.pem', PEM, 0o620);
  await file('text-secret', `${'s'.repeat(64)}\n`);
  const encrypted = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'geheim!' } as const;
  await file('encrypted.pem', RSA.privateKey.export(encrypted));
  await file('passphrase', 'geheim!\n');
  return () => rm(folder, { recursive: true, force: true });
});

const wordsOf = (args: string | readonly string[]) => (typeof args === 'string' ? args.split(' ') : args);

/** Runs `filings token` with HOME as its only variable. */
const run = (args: string | readonly string[], { input = '' as string | Buffer } = {}) =>
  program.filings(['token', ...wordsOf(args)], { cwd: folder, env: { HOME: folder }, input });

/** Like {@link run}, but fails unless the exit status is 0. Returns stdout without the last line break. */
async function filings(args: string | readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args);
  expect(exitCode, stderr).toBe(0);
  return stdout.replace(/\n$/, '');
}

async function file(name: string, content: string | Buffer, mode = 0o600): Promise<string> {
  await writeFile(join(folder, name), content);
  await chmod(join(folder, name), mode);
  return name;
}

const text = (part = '') => Buffer.from(part, 'base64url').toString();

function decoded(token: string) {
  const [header, claims] = token.split('.').map(text);
  return { header: JSON.parse(header ?? ''), claims: JSON.parse(claims ?? '') };
}

describe('token sign', () => {
  test('prints a token and a newline, with iat, nbf and exp', async () => {
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

  test('prints a header with --header, and an object with --json', async () => {
    expect(await filings('sign --key ec.pem --header')).toMatch(/^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    const { token, header, claims } = JSON.parse(await filings('--key ec.pem --json'));
    expect(decoded(token)).toEqual({ header, claims });
  });

  test('--out replaces an older file by one with mode 0600 that --jwt-file accepts', async () => {
    await file('token.jwt', 'old', 0o644);
    const { exitCode, stdout, stderr } = await run('sign --key ec.pem --out token.jwt');
    expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
    expect((await stat(join(folder, 'token.jwt'))).mode & 0o777).toBe(0o600);
    expect(decoded(await readFile(join(folder, 'token.jwt'), 'utf8')).claims).toHaveProperty('exp');
    const list = ['list', program.ACCESSION, '--jwt-file', 'token.jwt', '--retries', '0'];
    const asked = await program.filings(list, { cwd: folder, env: program.serviceAt('http://127.0.0.1:1') });
    expect(asked).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('connection refused') });
  });

  test.each<[string, (iat: number) => object]>([
    ['--not-before 1h --lifetime 2m', (iat) => ({ nbf: iat + 3600, exp: iat + 3720 })],
    ['--not-before 2030-01-02T03:04:05Z', () => ({ nbf: 1_893_553_445, exp: 1_893_553_745 })],
    ['--not-before 1893553445 --lifetime 1d', () => ({ nbf: 1_893_553_445, exp: 1_893_639_845 })],
  ])('--not-before sets nbf and moves exp: %s', async (args, expected) => {
    const { claims } = decoded(await filings(`sign --key ec.pem ${args}`));
    expect(claims).toMatchObject(expected(claims.iat));
  });

  test('warns if the secret ends in a line break', async () => {
    const signed = await run('sign --secret-file text-secret');
    expect(signed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('ends in a line break') });
    expect((await run('sign --secret-file text-secret -q')).stderr).toBe('');
  });

  test('reads the key from stdin, and the passphrase from a file', async () => {
    expect((await run('sign --key -', { input: PEM })).exitCode).toBe(0);
    const token = await filings('sign --key encrypted.pem --passphrase-file passphrase');
    expect(await filings(`verify ${token} --key rsa.pub`)).toContain('"exp"');
  });

  test('uses jwt of the config file, and flags override it', async () => {
    const jwt = { keyFile: 'rsa.pem', alg: 'PS384', kid: 'from-config', sub: 'me', name: 'Me', lifetime: '90s' };
    await file('config.json', JSON.stringify({ jwt }));
    const { header, claims } = decoded(await filings('--config config.json'));
    expect(header).toEqual({ alg: 'PS384', typ: 'JWT', kid: 'from-config' });
    expect(claims).toMatchObject({ sub: 'me', name: 'Me', exp: claims.nbf + 90 });
    const changed = decoded(await filings('sign --config config.json --sub you --lifetime 5s --alg RS256'));
    expect(changed.header.alg).toBe('RS256');
    expect(changed.claims).toMatchObject({ sub: 'you', name: 'Me', exp: changed.claims.nbf + 5 });
    const own = decoded(await filings('sign --config config.json --key ec.pem'));
    expect(own.header).toEqual({ alg: 'ES256', typ: 'JWT' });
    expect(own.claims).not.toHaveProperty('sub');
    const twice = { exitCode: 2, stderr: expect.stringContaining('claim sub: set twice') };
    expect(await run('--config config.json --claim sub=x')).toMatchObject(twice);
  });

  test.each<[line: string, reason: RegExp, status?: number]>([
    ['sign', /no key to sign with[\s\S]*--key FILE or --secret-file FILE, or set 'jwt'/],
    ['sign --key ec.pem --secret-file secret', /--key cannot be used with --secret-file/],
    ['sign --key - --api-key-file -', /--key - and --api-key-file -/],
    ['sign --key nope', /key file \S+nope: no such file/],
    ['sign --key ec.pem --alg EdDSA', /--alg: must be an algorithm that the service accepts .* not 'EdDSA'/],
    ['sign --key ec.pem --lifetime 9000000d', /after the year 9999/],
    ['sign --key ec.pem --not-before tomorrow', /--not-before: must be a duration, such as 30s, or a time/],
    ['sign --key ec.pem --claim a=1 --claim a=2', /claim a: set twice/],
    ['sign --key ec.pem --claim-json a=x', /--claim-json: must be NAME=JSON/],
    ['sign x --key ec.pem', /takes no arguments/],
    ['sign --key open.pem', /others can write it\n.*chmod 600 \S+\/open.pem/],
    ['sign --key encrypted.pem', /--passphrase-file/],
    ['verify a.b.c', /no key: give --key FILE/],
    ['verify - --key -', /--key - and TOKEN cannot both read stdin/],
    ['keygen --out x', /give both --alg ALG and --out FILE/],
    ['keygen --alg ES256 --out -', /--out: must be a file, not stdout/],
    ['keygen --alg HS256 --out x --public y', /no public key/],
    ['keygen --alg ES256 --out no/x', /no such directory/, 8],
    ['sign --key ec.pem --out -', /--out: must be a file/],
    ['sign --key ec.pem --out no/x', /no such directory\n +hint: create it first/, 8],
    ['keygen --alg ES256 --out fresh --public fresh', /--public: names the same file as --out/],
    ['sign --key ec.pem --out ec.pem', /ec.pem is the file that the key is read from/],
  ])('rejects %s', async (args, reason, status = 2) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: status, stdout: '' });
    expect(stderr).toMatch(reason);
  });
});

describe('token inspect', () => {
  test('prints header and claims, marked as not verified', async () => {
    const token = await filings('sign --key ec.pem --sub alice --not-before 2020-01-01T00:00:00Z');
    const output = await filings(`inspect ${token}`);
    for (const line of [
      /^NOT VERIFIED/,
      /^header\talg\t"ES256"$/m,
      /^claims\tsub\t"alice"$/m,
      /claims\texp\t1577837100\t2020-01-01T00:05:00Z, expired \d+ d ago/,
      /service\t\tthe service would object: expired \d+ d ago/,
    ])
      expect(output).toMatch(line);
    const json = JSON.parse((await run('inspect --json', { input: `${token}\n` })).stdout);
    const objections = [expect.stringMatching(/expired/)];
    expect(json).toMatchObject({ verified: false, header: { alg: 'ES256' }, claims: { sub: 'alice' }, objections });
  });

  test('reads a token that PowerShell has written to a file, in UTF-16', async () => {
    const token = await filings('sign --key ec.pem');
    const input = Buffer.from(`\ufeff${token}\r\n`, 'utf16le');
    for (const line of ['inspect', 'verify --key ec.pub']) expect((await run(line, { input })).exitCode).toBe(0);
  });

  test('escapes control characters of hostile claims', async () => {
    const hostile = '\x1b[2J\u202e\x9b\u2028\n';
    const inspect = `inspect ${part({ alg: 'RS256' })}.${part({ [hostile]: hostile })}.AAAA`;
    const [output, json] = [await filings(inspect), await filings(`${inspect} --json`)];
    for (const unseen of ['\x1b', '\u202e', '\x9b', '\u2028']) expect(output + json).not.toContain(unseen);
    expect(JSON.parse(json).claims).toEqual({ [hostile]: hostile });
  });

  test.each<[string, string, string, RegExp]>([
    ['an empty stdin', 'inspect', '', /token is empty/],
    ['two parts', 'inspect a.b', '', /three parts, this has 2/],
    ['a token of 2 MB', 'inspect', 'A'.repeat(2_000_000), /over 64 KiB/],
    ['text', 'inspect a.b.c', '', /header part/],
    [
      'the name of a file',
      'verify token.jwt --key ec.pub',
      '',
      /three parts.*\n {2}hint: .* read from stdin: - < FILE/,
    ],
    ['a header line', 'inspect', 'Authorization: Bearer a.b.c\n', /header line.*\n {2}hint: to keep only the token/],
    ['JSON', 'verify --key ec.pub', '{"access_token":"a.b.c"}', /is JSON.*\n {2}hint: .* jq -r .access_token\n$/],
  ])('rejects %s with failed_check format and exit status 4', async (_, args, input, reason) => {
    const { exitCode, stdout, stderr } = await run(args, { input });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toMatch(/^filings: the token (?:cannot be read|is not valid) \(format\): /);
    expect(stderr).toMatch(reason);
    const json = await run([...wordsOf(args), '--json'], { input });
    expect(JSON.parse(json.stdout)).toMatchObject({ failed_check: 'format' });
  });
});

describe('token verify', () => {
  test.each(ALGORITHMS)('accepts a token of %s, with a key of keygen', async (alg) => {
    const isSecret = alg.startsWith('HS');
    const [flag, verifying] = isSecret ? ['--secret-file', `${alg}.key`] : ['--key', `${alg}.pub`];
    await filings(`keygen --alg ${alg} --out ${alg}.key${isSecret ? '' : ` --public ${alg}.pub`}`);
    const token = await filings(`sign --alg ${alg} ${flag} ${alg}.key --sub x`);
    const json = JSON.parse(await filings(`verify ${token} ${flag} ${verifying} --json`));
    expect(json).toEqual({ valid: true, ...decoded(token) });
    expect(json.header.alg).toBe(alg);
  });

  test('accepts one line break after a token from stdin, and none in an argument', async () => {
    const token = await filings('sign --key ec.pem');
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

  test('explains the failed check with numbers', async () => {
    const token = await filings('sign --key ec.pem --not-before 1800000094');
    await filings('keygen --alg ES256 --out other.pem --public other.pub');
    const early = 'nbf is 94 s in the future: is a clock wrong?';
    for (const [args, check, why] of [
      ['--key ec.pub --at 1800000000', 'claims', early],
      ['--key ec.pub --at 2027-01-15T08:00:00Z --leeway 93s', 'claims', early],
      ['--key ec.pub --at 1800011194', 'claims', 'expired 3 h ago'],
      ['--secret-file secret', 'key', 'the key is a secret of 64 bytes, which is not for ES256'],
      ['--key ec.pub --alg RS256 --alg ES384', 'header', 'alg is ES256, and only RS256, ES384 may be used'],
      ['--key other.pub', 'signature', expect.stringContaining('another key')],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(`verify ${token} ${args} --json`);
      const verdict = JSON.parse(stdout);
      expect({ exitCode, ...verdict }).toEqual({ exitCode: 4, valid: false, failed_check: check, reason: why });
      expect(stderr).toContain(`(${check}): ${verdict.reason}`);
    }
    await filings(`verify ${token} --key ec.pub --at 1800000000 --leeway 94s`);
  });

  test('prints claims exactly as signed, in one line, with control characters escaped', async () => {
    const claimTexts = { big: '9007199254740993', 2: '1.0', 1: '[-0,1e400]', __proto: '{}' };
    const claims = Object.entries(claimTexts).flatMap(([name, json]) => ['--claim-json', `${name}=${json}`]);
    const spread = '{ "a b" : [ "\\" \\n", "\u202e" ],\n "c": 1E-400 }';
    const more = ['--claim', 'a=b=c', '--claim', '__proto__=x', '--claim-json', `x=${spread}`];
    const token = await filings(['sign', '--key', 'ec.pem', ...claims, ...more]);
    const first = ',"a":"b=c","__proto__":"x","1":[-0,1e400],"2":1.0,"big":9007199254740993,"__proto":{}';
    expect(text(token.split('.')[1])).toContain(`${first},"x":${spread}}`);
    const output = `${first},"x":{"a b":["\\" \\n","\\u202e"],"c":1E-400}}`;
    expect(await filings(`verify ${token} --key ec.pub`)).toContain(output);
    expect(await filings(`verify ${token} --key ec.pem --json`)).toContain(`${output}}`);
  });
});

describe('token keygen', () => {
  test('writes a private key for its owner only, and prints what to do with the public key', async () => {
    const { exitCode, stdout, stderr } = await run('keygen --alg ES384 --out new.pem --public new.pub --kid k1');
    expect(exitCode).toBe(0);
    const written = createPublicKey(await readFile(join(folder, 'new.pem'), 'utf8'));
    expect(await readFile(join(folder, 'new.pub'), 'utf8')).toBe(written.export({ format: 'pem', type: 'spki' }));
    expect(stdout).toBe('');
    expect((await stat(join(folder, 'new.pem'))).mode & 0o777).toBe(0o600);
    expect(stderr).toContain("import new.pub into the service's customer portal");
    expect(stdout + stderr).not.toContain('PRIVATE KEY');
  });

  test('writes JWKs', async () => {
    const out = JSON.parse(await filings('keygen --alg ES512 --format jwk --out k.jwk --kid k'));
    expect(out).toMatchObject({ kty: 'EC', crv: 'P-521', use: 'sig', alg: 'ES512', kid: 'k' });
    expect(out).not.toHaveProperty('d');
    expect(decoded(await filings('sign --key k.jwk')).header).toEqual({ alg: 'ES512', typ: 'JWT', kid: 'k' });
    await filings('keygen --alg HS256 --format jwk --out oct.jwk');
    expect(await filings(`verify ${await filings('sign --key oct.jwk')} --key oct.jwk`)).toContain('"exp"');
  });

  test('writes a secret as long as the hash, and prints nothing of it', async () => {
    const { stdout, stderr } = await run('keygen --alg HS384 --out hs384');
    const secret = await readFile(join(folder, 'hs384'));
    expect(secret).toHaveLength(48);
    expect((await stat(join(folder, 'hs384'))).mode & 0o777).toBe(0o600);
    expect(stdout).toBe('');
    for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const)
      expect(stderr).not.toContain(secret.toString(encoding));
  });

  test('does not overwrite a file, follow a link or leave one of two files', async () => {
    await file('there', 'mine');
    await symlink('nowhere', join(folder, 'link'));
    for (const files of ['there', 'link', 'fresh --public there', 'fresh --public link']) {
      const { exitCode, stdout, stderr } = await run(`keygen --alg ES256 --out ${files}`);
      expect({ exitCode, stdout }).toEqual({ exitCode: 8, stdout: '' });
      expect(stderr).toContain('already exists, and is not overwritten');
    }
    expect(await readFile(join(folder, 'there'), 'utf8')).toBe('mine');
    expect((await readdir(folder)).filter((name) => name === 'fresh' || name === 'nowhere')).toEqual([]);
  });
});

test('no output contains a private key or secret, even with -v and after errors', async () => {
  await file('canary-secret', `canary-secret-${'x'.repeat(30)}`);
  await file('short-secret', 'canary-secret-short');
  await file('broken.jwk', '{"kty":"oct","k":"canary-secret-in-broken-json",}');
  await file('cut.pem', PEM.slice(0, 900));
  await file('two.pem', PEM + PEM);
  for (const line of [
    'sign --key rsa.pem',
    'sign --key rsa.pem --alg ES256',
    'sign --secret-file rsa.pem',
    'sign --secret-file short-secret',
    'sign --secret-file canary-secret',
    'sign --key canary-secret',
    'sign --key broken.jwk --error-format json',
    'sign --key cut.pem',
    'sign --key two.pem',
    'sign --key -',
    'verify a.b.c --key rsa.pem',
  ]) {
    const { stdout, stderr } = await run(`${line} -v`, { input: PEM.replaceAll('A', 'B') });
    for (const each of ['canary-secret-', ...PEM.split('\n').filter((text) => text.length > 40)])
      expect(stdout + stderr).not.toContain(each.slice(0, 24));
  }
});
