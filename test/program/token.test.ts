import { createPublicKey } from 'node:crypto';
import { link, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rsaPair } from '../key-pairs.ts';
import { part, pem } from '../service/jwt-forge.ts';
import { temporaryFolder } from '../settings-world.ts';
import * as program from './run.ts';

const RSA = rsaPair('rsa');
const PEM = `${pem(RSA.privateKey)}`;

const { path: folder, file, remove } = await temporaryFolder();
afterAll(remove);
beforeAll(async () => {
  await filings('keygen --alg ES256 --out ec.pem --public ec.pub');
  await filings('keygen --alg HS512 --out secret');
  await file('rsa.pem', PEM);
});

const wordsOf = (args: string | readonly string[]) => (typeof args === 'string' ? args.split(' ') : args);

/** Runs `filings token` with HOME as its only variable. */
const run = (args: string | readonly string[], input: string | Buffer = '') =>
  program.filings(['token', ...wordsOf(args)], { cwd: folder, env: { HOME: folder }, input });

/** Like {@link run}, but fails unless the exit status is 0. Returns stdout without the last line break. */
async function filings(args: string | readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(args);
  expect(exitCode, stderr).toBe(0);
  return stdout.replace(/\n$/, '');
}

const readText = (name: string) => readFile(join(folder, name), 'utf8');
const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
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
    expect(claims.iat).toBeGreaterThanOrEqual(before);
  });

  test('prints a header with --header, and an object with --json', async () => {
    expect(await filings('sign --key ec.pem --header')).toMatch(/^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    const { token, header, claims } = JSON.parse(await filings('--key ec.pem --json'));
    expect(decoded(token)).toEqual({ header, claims });
  });

  test('--out replaces an older file by one with mode 0600 that --jwt-file accepts', async () => {
    await file('token.jwt', 'old', 0o644);
    expect(await run('sign --key ec.pem --out token.jwt')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await modeOf('token.jwt')).toBe(0o600);
    const list = ['list', program.ACCESSION, '--jwt-file', 'token.jwt', '--retries', '0'];
    const asked = await program.filings(list, { cwd: folder, env: program.serviceAt('http://127.0.0.1:1') });
    expect(asked).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('connection refused') });
  });

  test.each`
    what               | args
    ${'itself'}        | ${'--key rsa.pem --out rsa.pem'}
    ${'a symlink'}     | ${'--key rsa.pem --out rsa.symlink'}
    ${'a hard link'}   | ${'--key rsa.symlink --out rsa.link'}
    ${'a secret'}      | ${'--secret-file secret --out secret.link'}
    ${'a passphrase'}  | ${'--key rsa.pem --passphrase-file passphrase --out passphrase'}
    ${'a config file'} | ${'--key rsa.pem --config own.json --out own.json'}
    ${'a recipe'}      | ${'--config own.json --out rsa.link'}
  `('--out refuses an input of the command, by any link: $what', async ({ args }) => {
    await file('passphrase', 'geheim!\n');
    await file('own.json', { jwt: { keyFile: 'rsa.symlink' } });
    await symlink('rsa.pem', join(folder, 'rsa.symlink')).catch(() => {});
    for (const name of ['rsa.pem', 'secret'])
      await link(join(folder, name), join(folder, `${name.replace('.pem', '')}.link`)).catch(() => {});
    const names = ['rsa.pem', 'secret', 'passphrase', 'own.json', 'rsa.symlink', 'rsa.link'];
    const before = await Promise.all(names.map(readText));
    const { exitCode, stderr } = await run(`sign ${args}`);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/--out: \S+ is a file that this command reads/)]);
    expect(await Promise.all(names.map(readText))).toEqual(before);
  });

  test('--out writes through a descriptor of the shell, and to stdout', async () => {
    expect((await run('sign --key ec.pem --out /dev/stdout')).stdout).toMatch(/^ey/);
    expect(await run('sign --key ec.pem --out /dev/null')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  test.each`
    args                                       | claims
    ${'--not-before 1h --lifetime 2m'}         | ${(iat: number) => ({ nbf: iat + 3600, exp: iat + 3720 })}
    ${'--not-before 2030-01-02T03:04:05Z'}     | ${() => ({ nbf: 1_893_553_445, exp: 1_893_553_745 })}
    ${'--not-before 1893553445 --lifetime 1d'} | ${() => ({ nbf: 1_893_553_445, exp: 1_893_639_845 })}
  `('sets nbf, and exp a lifetime later, with $args', async ({ args, claims: expected }) => {
    const { claims } = decoded(await filings(`sign --key ec.pem ${args}`));
    expect(claims).toMatchObject(expected(claims.iat));
  });

  test('warns if the secret ends in a line break', async () => {
    await file('text-secret', `${'s'.repeat(64)}\n`);
    expect((await run('sign --secret-file text-secret')).stderr).toContain('ends in a line break');
    expect(await run('sign --secret-file text-secret -q')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('reads the key from stdin, and the passphrase from a file', async () => {
    expect((await run('sign --key -', PEM)).exitCode).toBe(0);
    const encrypted = { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'geheim!' } as const;
    await file('encrypted.pem', RSA.privateKey.export(encrypted));
    await file('passphrase', 'geheim!\n');
    const token = await filings('sign --key encrypted.pem --passphrase-file passphrase');
    expect(await filings(`verify ${token} --key rsa.pem`)).toContain('"exp"');
  });

  test('uses jwt of the config file, and flags override it', async () => {
    const jwt = { keyFile: 'rsa.pem', alg: 'PS384', kid: 'from-config', sub: 'me', name: 'Me', lifetime: '90s' };
    await file('config.json', { jwt });
    const signed = async (args: string) => decoded(await filings(`sign --config config.json ${args}`.trim()));
    const { header, claims } = await signed('');
    expect(header).toEqual({ alg: 'PS384', typ: 'JWT', kid: 'from-config' });
    expect(claims).toMatchObject({ sub: 'me', name: 'Me', exp: claims.nbf + 90 });
    const changed = await signed('--sub you --lifetime 5s --alg RS256');
    expect(changed.header.alg).toBe('RS256');
    expect(changed.claims).toMatchObject({ sub: 'you', name: 'Me', exp: changed.claims.nbf + 5 });
    const own = await signed('--key ec.pem');
    expect(own.header).toEqual({ alg: 'ES256', typ: 'JWT' });
    expect(own.claims).not.toHaveProperty('sub');
    expect(await run('--config config.json --claim sub=x')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('a token command is refused', () => {
  test.each`
    line                                               | exit | reason
    ${'sign'}                                          | ${2} | ${/no key to sign with\n.*--key FILE .* or set 'jwt'/}
    ${'sign --key ec.pem --secret-file secret'}        | ${2} | ${/--key cannot be used with --secret-file/}
    ${'sign --key - --api-key-file -'}                 | ${2} | ${/--key - and --api-key-file -/}
    ${'sign --key nope'}                               | ${2} | ${/key file \S+nope: no such file/}
    ${'sign --key ec.pem --alg EdDSA'}                 | ${2} | ${/--alg: must be an algorithm .* not 'EdDSA'/}
    ${'sign --key ec.pem --lifetime 9000000d'}         | ${2} | ${/after the year 9999/}
    ${'sign --key ec.pem --not-before tomorrow'}       | ${2} | ${/--not-before: must be a duration, such as 30s, or a time/}
    ${'sign --key ec.pem --claim a=1 --claim a=2'}     | ${2} | ${/claim a: set twice/}
    ${'sign --key ec.pem --claim-json a=x'}            | ${2} | ${/--claim-json: must be NAME=JSON/}
    ${'sign --key open.pem'}                           | ${2} | ${/other users can write it\n.*chmod 600 \S+\/open.pem/}
    ${'sign --key ec.pem --out -'}                     | ${2} | ${/--out: must be a file/}
    ${'sign --key - --out .'}                          | ${2} | ${/--out must be a file, not a directory/}
    ${'keygen --alg ES256 --out new/'}                 | ${2} | ${/--out must be a file, not a directory/}
    ${'sign --key ec.pem --out no/x'}                  | ${8} | ${/no such directory\n +hint: create it first/}
    ${'verify a.b.c'}                                  | ${2} | ${/no key: give --key FILE/}
    ${'verify - --key -'}                              | ${2} | ${/--key - and TOKEN cannot both read stdin/}
    ${'keygen --out x'}                                | ${2} | ${/give both --alg ALG and --out FILE/}
    ${'keygen --alg ES256 --out no/x'}                 | ${8} | ${/no such directory/}
    ${'keygen --alg HS256 --out x --public y'}         | ${2} | ${/no public key/}
    ${'keygen --alg ES256 --out fresh --kid k'}        | ${2} | ${/--kid: has no effect without --format jwk/}
    ${'keygen --alg ES256 --out fresh --public fresh'} | ${2} | ${/--public: is the same file as --out/}
  `('with exit status $exit: $line', async ({ line, exit, reason }) => {
    await file('open.pem', PEM, 0o620);
    const { exitCode, stdout, stderr } = await run(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' });
    expect(stderr).toMatch(reason);
  });
});

describe('token inspect', () => {
  test('prints header and claims, marked as not verified', async () => {
    const token = await filings('sign --key ec.pem --sub alice --not-before 2020-01-01T00:00:00Z');
    const [first, ...lines] = (await filings(`inspect ${token}`)).split('\n');
    expect(first).toMatch(/^NOT VERIFIED/);
    expect(lines).toEqual(expect.arrayContaining(['header\talg\t"ES256"', 'claims\tsub\t"alice"']));
    expect(lines.join('\n')).toMatch(/^claims\texp\t1577837100\t2020-01-01T00:05:00Z, expired \d+ d ago$/m);
    expect(lines.at(-1)).toMatch(/^problem\t\texpired \d+ d ago$/);
    const json = JSON.parse((await run('inspect --json', `${token}\n`)).stdout);
    const objections = [expect.stringMatching(/expired/)];
    expect(json).toMatchObject({ verified: false, header: { alg: 'ES256' }, claims: { sub: 'alice' }, objections });
  });

  test('prints header and claims as the text of the token, duplicates included', async () => {
    const claims = '{ "big": 9007199254740993, "list" : [1.0, {"a,b": "}"}],\n"exp":1e400,"exp":-0, "__proto__":{}}';
    const inspect = `inspect ${part('\ufeff{"alg":"RS256","x":1E2}')}.${part(claims)}.AAAA`;
    const rows = (await filings(inspect)).split('\n');
    for (const row of ['big\t9007199254740993', 'list\t[1.0,{"a,b":"}"}]', 'exp\t1e400', 'exp\t-0', '__proto__\t{}'])
      expect(rows.some((line) => line.startsWith(`claims\t${row}`))).toBe(true);
    const json =
      '"header":{"alg":"RS256","x":1E2},"claims":{"big":9007199254740993,"list":[1.0,{"a,b":"}"}],"exp":1e400,"exp":-0';
    expect(await filings(`${inspect} --json`)).toContain(`{"verified":false,${json}`);
  });

  test('escapes control characters of hostile claims', async () => {
    const hostile = '\x1b[2J\u202e\x9b\u2028\n';
    const inspect = `inspect ${part({ alg: 'RS256' })}.${part({ [hostile]: hostile })}.AAAA`;
    const [output, json] = [await filings(inspect), await filings(`${inspect} --json`)];
    for (const unseen of ['\x1b', '\u202e', '\x9b', '\u2028']) expect(output + json).not.toContain(unseen);
    expect(JSON.parse(json).claims).toEqual({ [hostile]: hostile });
  });
});

test.each`
  what                    | args                               | input                         | reason
  ${'an empty stdin'}     | ${'inspect'}                       | ${''}                         | ${/token is empty\n/}
  ${'megabytes of stdin'} | ${'inspect'}                       | ${'A'.repeat(2_000_000)}      | ${/over 64 KiB long\n/}
  ${'the name of a file'} | ${'verify token.jwt --key ec.pub'} | ${''}                         | ${/hint: .*pass its contents instead: - < FILE\n/}
  ${'JSON'}               | ${'verify --key ec.pub'}           | ${'{"access_token":"a.b.c"}'} | ${/is JSON.*\n.* jq -r .access_token\n/}
`('$what in place of a token fails the check of its format', async ({ args, input, reason }) => {
  const { exitCode, stdout, stderr } = await run(args, input);
  expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
  const start = args.startsWith('inspect') ? 'cannot be read' : 'is not valid';
  expect(stderr).toMatch(new RegExp(`^filings: the token ${start} \\(format\\): `));
  expect(stderr).toMatch(reason);
  expect(JSON.parse((await run(`${args} --json`, input)).stdout)).toMatchObject({ failed_check: 'format' });
});

describe('token verify', () => {
  // Only one is RSA, because generating RSA keys takes long.
  test.each`
    alg        | flag
    ${'PS256'} | ${'--key'}
    ${'ES384'} | ${'--key'}
    ${'HS512'} | ${'--secret-file'}
  `('accepts a token of $alg, with a key of keygen', async ({ alg, flag }) => {
    const isPair = flag === '--key';
    await filings(`keygen --alg ${alg} --out ${alg}.key${isPair ? ` --public ${alg}.pub` : ''}`);
    const token = await filings(`sign --alg ${alg} ${flag} ${alg}.key --sub x`);
    const json = JSON.parse(await filings(`verify ${token} ${flag} ${alg}.${isPair ? 'pub' : 'key'} --json`));
    expect(json).toEqual({ valid: true, ...decoded(token) });
    expect(json.header.alg).toBe(alg);
  });

  test('accepts one line break after a token from stdin, in UTF-16 too, and none in an argument', async () => {
    const token = await filings('sign --key ec.pem');
    const verdict = async (input: string | Buffer, argument = '-') =>
      JSON.parse((await run(['verify', argument, '--key', 'ec.pub', '--json'], input)).stdout);
    // PowerShell writes UTF-16.
    for (const input of [token, `${token}\n`, `${token}\r\n`, Buffer.from(`\ufeff${token}\r\n`, 'utf16le')])
      expect(await verdict(input)).toMatchObject({ valid: true });
    for (const refused of [verdict('', `${token}\n`), verdict(`${token}\n\n`), verdict(` ${token}`)])
      expect(await refused).toMatchObject({ valid: false, failed_check: 'format' });
  });

  test('explains the failed check with numbers', async () => {
    const token = await filings('sign --key ec.pem --not-before 1800000094');
    for (const [args, check, reason] of [
      ['--at 2027-01-15T08:00:00Z --leeway 93s', 'claims', 'nbf is 94 s in the future: is a clock wrong?'],
      ['--alg RS256 --alg ES384', 'header', 'alg is ES256, and only RS256, ES384 may be used'],
    ] as const) {
      const { exitCode, stdout, stderr } = await run(`verify ${token} --key ec.pub ${args} --json`);
      const verdict = JSON.parse(stdout);
      expect({ exitCode, ...verdict }).toEqual({ exitCode: 4, valid: false, failed_check: check, reason });
      expect(stderr).toContain(`(${check}): ${verdict.reason}`);
    }
    await filings(`verify ${token} --key ec.pub --at 1800000000 --leeway 94s`);
  });

  test('prints claims exactly as signed, in one line, with control characters escaped', async () => {
    const spread = '{ "a b" : [ "\\" \\n", "\u202e" ],\n "c": 1E-400 }';
    const claimTexts = { big: '9007199254740993', 2: '1.0', 1: '[-0,1e400]', __proto: '{}', x: spread };
    const claims = Object.entries(claimTexts).flatMap(([name, json]) => ['--claim-json', `${name}=${json}`]);
    const words = ['--claim', 'a=b=c', '--claim', '__proto__=x'];
    const token = await filings(['sign', '--key', 'ec.pem', ...claims, ...words]);
    const first = ',"a":"b=c","__proto__":"x","1":[-0,1e400],"2":1.0,"big":9007199254740993,"__proto":{}';
    expect(text(token.split('.')[1])).toContain(`${first},"x":${spread}}`);
    const output = `${first},"x":{"a b":["\\" \\n","\\u202e"],"c":1E-400}}`;
    expect(await filings(`verify ${token} --key ec.pub`)).toContain(output);
    expect(await filings(`verify ${token} --key ec.pem --json`)).toContain(`${output}}`);
  });
});

describe('token keygen', () => {
  test('writes a private key for its owner only, and prints what to do with the public key', async () => {
    const { exitCode, stdout, stderr } = await run('keygen --alg ES384 --out new.pem --public new.pub');
    expect([exitCode, stdout, await modeOf('new.pem')]).toEqual([0, '', 0o600]);
    const written = createPublicKey(await readText('new.pem'));
    expect(await readText('new.pub')).toBe(written.export({ format: 'pem', type: 'spki' }));
    expect(stderr).toContain("import new.pub in the service's customer portal");
    expect(stderr).not.toContain('PRIVATE KEY');
  });

  test('writes JWKs', async () => {
    const out = JSON.parse(await filings('keygen --alg ES512 --format jwk --out k.jwk --kid k'));
    expect(out).toMatchObject({ kty: 'EC', crv: 'P-521', use: 'sig', alg: 'ES512', kid: 'k' });
    expect(out).not.toHaveProperty('d');
    expect(decoded(await filings('sign --key k.jwk')).header).toEqual({ alg: 'ES512', typ: 'JWT', kid: 'k' });
    await filings('keygen --alg HS256 --format jwk --out oct.jwk');
    expect(await filings(`verify ${await filings('sign --key oct.jwk')} --key oct.jwk`)).toContain('"exp"');
  });

  test('writes a secret as long as the hash, and prints it in base64', async () => {
    const { stdout, stderr } = await run('keygen --alg HS384 --out hs384');
    const secret = await readFile(join(folder, 'hs384'));
    expect([stdout, secret.length, await modeOf('hs384')]).toEqual([`${secret.toString('base64')}\n`, 48, 0o600]);
    expect(stderr).toContain('import the printed secret (base64) in');
    for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const)
      expect(stderr).not.toContain(secret.toString(encoding));
    const printed = await filings('keygen --alg HS256 --format jwk --out hs.jwk');
    expect(Buffer.from(JSON.parse(await readText('hs.jwk')).k, 'base64url').toString('base64')).toBe(printed);
  });

  test('does not overwrite a file, follow a link or leave one of two files', async () => {
    await file('there', 'mine');
    await symlink('nowhere', join(folder, 'link'));
    for (const files of ['there', 'link', 'new --public there', 'new --public link']) {
      const refused = { exitCode: 8, stdout: '', stderr: expect.stringContaining('is never overwritten') };
      expect(await run(`keygen --alg ES256 --out ${files}`)).toEqual(refused);
    }
    expect(await readText('there')).toBe('mine');
    expect((await readdir(folder)).filter((name) => name === 'new' || name === 'nowhere')).toEqual([]);
  });
});

test.each`
  line                                           | input
  ${'sign --key rsa.pem'}                        | ${''}
  ${'sign --secret-file rsa.pem'}                | ${''}
  ${'sign --secret-file short-secret'}           | ${''}
  ${'sign --key broken.jwk --error-format json'} | ${''}
  ${'sign --key -'}                              | ${PEM.replaceAll('A', 'B')}
`('no output contains a private key or secret, even with -v and after an error: $line', async ({ line, input }) => {
  await file('short-secret', 'canary-secret-short');
  await file('broken.jwk', '{"kty":"oct","k":"canary-secret-in-broken-json",}');
  const { stdout, stderr } = await run(`${line} -v`, input);
  for (const each of ['canary-secret-', ...PEM.split('\n').filter((line) => line.length > 40)])
    expect(stdout + stderr).not.toContain(each.slice(0, 24));
});
