// Recognizes keys in the forms that people have at hand, such as an OpenSSH key, DER or a PEM key that was in an
// environment variable. The error has the command that converts the key. This program does not convert it, because two
// programs that repair a damaged key differently would use different keys. A key in any form is no HMAC secret.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { errnoOf } from '../errors.ts';
import { decodeText, intoNewFile, shellWord } from '../text.ts';

export const ARMOR = '-----BEGIN ';
/** Base64 or base64url, which may be broken into lines. */
const BASE64 = /^[\w+/=\s-]+$/;
const HEX = /^[\da-f\s]+$/i;

/**
 * `contents` is what errors call the form. If `remedy` has the word FILE, it is a command that prints a usable key, and
 * the path replaces the word; `furtherCommand` then changes the converted key in place. Otherwise `remedy` is the hint.
 * Without `remedy`, the program can use the key.
 */
type FormRow = readonly [contents: string, remedy?: string, furtherCommand?: string];

const CONVERTED = 'converted.key';
const PASS_AS_KEY = 'pass it as a key: --key, --jwt-key or keyFile';

const MAKE_KEY = 'make one for JWTs: filings token keygen --alg ES256 --out private.pem';
const OTHER_SSH = 'an SSH key of a type that the service does not accept';
const SSH_TO_PEM = 'ssh-keygen -e -m PKCS8 -f';
const RESTORE_LINES = 'break its lines again: after each dashed line, and after each 70 characters';
const OLD_PROVIDERS = '-provider legacy -provider default';
const OLD_PEM: FormRow = [
  'a PEM key with an encryption that Node.js no longer reads',
  `openssl pkey -aes256 ${OLD_PROVIDERS} -in FILE`,
];

/** The first match in the text counts. It is followed by NUL and what its base64 decodes to, in Latin-1. */
const TEXT_FORMS: readonly (readonly [pattern: RegExp, ...form: FormRow])[] = [
  // Random bytes, which may be a secret, match none of these. The command prints the first of several keys.
  [/^\s*\[\s*\{[^\0]*"kty"/, 'a list of JWKs', `jq '.[0]' FILE`],
  [/^\s*\{[^\0]*"keys"\s*:\s*\[/, 'a JWK Set', `jq '.keys[0]' FILE`],
  [
    /^\s*\{[^\0]*:\s*"-----BEGIN /,
    'JSON that holds a PEM key',
    `jq -r 'first(.[] | strings | select(startswith("${ARMOR}")))' FILE`,
  ],
  [/^\s*"\s*\{[^\0]*\\"kty\\"/, 'a JWK in quotes', 'jq -r . FILE'],
  [/^\s*'\s*\{[^\0]*"kty"/, 'a JWK in quotes', `tr -d "'" < FILE`],
  [/^\s*\{[^\0]*"kty"/, 'a JWK'],
  [/(?:^|\s)(?:ssh-(?:ed|dss)|sk-)\S* AAAA|\0.{0,150}(?:ssh-(?:ed|dss)|sk-(?:ssh|ecdsa))/s, OTHER_SSH, MAKE_KEY],
  [/(?:^|\s)(?:ssh-|ecdsa-)\S* AAAA/, 'an OpenSSH public key', `${SSH_TO_PEM} FILE`],
  [/^---- BEGIN SSH2 PUBLIC/, 'an SSH public key (RFC 4716)', `ssh-keygen -i -f FILE | ${SSH_TO_PEM} /dev/stdin`],
  [/^---- BEGIN SSH2 /, 'an SSH2 private key', 'convert it to OpenSSH first: ssh-keygen -i'],
  // ssh-keygen converts a private key only in place.
  [
    /^-----BEGIN OPENSSH PRIVATE KEY-----$/m,
    'an OpenSSH private key',
    'cat FILE',
    ` && ssh-keygen -q -p -N '' -m PEM -f ${CONVERTED}`,
  ],
  [/BEGIN OPENSSH PRIVATE KEY/, 'an OpenSSH private key whose lines are indented or broken', RESTORE_LINES],
  [/^PuTTY-User-Key-File-/, 'a PuTTY key', 'puttygen FILE -O private-openssh -o /dev/stdout'],
  [/^-----BEGIN (?:PGP|AGE) |^AGE-SECRET-KEY-|^age1/m, 'a PGP or age key', MAKE_KEY],
  [/<RSAKeyValue>/, 'an RSA key in XML', 'export it as PEM; in .NET: ExportPkcs8PrivateKeyPem()'],
  [/^-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----$/m, 'a certificate request', 'openssl req -noout -pubkey -in FILE'],
  [/^-----BEGIN PKCS7-----$/m, 'PKCS#7', 'openssl pkcs7 -print_certs -in FILE | openssl x509 -noout -pubkey'],
  [/(PRIVATE|PUBLIC) KEY-----[^\0]*-----BEGIN [A-Z ]*\1 KEY-----/, 'a file with several keys', 'keep only one of them'],
  [/^DEK-Info: (?!(?:AES|ARIA|CAMELLIA)-|DES-EDE)/m, ...OLD_PEM],
];

/** The beginning of a SEQUENCE, in hex. */
const SEQUENCE = '30(?:80|[0-7].|81..|82.{4}|83.{6})';
const ENCRYPTED = new RegExp(`^${SEQUENCE}${SEQUENCE}060.2a864886f70d01(?:05|0c)`);
const PKCS12 = new RegExp(`^${SEQUENCE}02010330`);
const CERTIFICATE = new RegExp(`^${SEQUENCE}${SEQUENCE}a0030201`);
/** The identifiers of DES, RC2 and RC4 in PKCS#5 and PKCS#12 (RFC 8018, appendix A.3 and B; RFC 7292, appendix C). */
const OLD_CIPHER = /2a864886f70d01050[1346ab]|2a864886f70d010c010[1256]|2b0e030207|2a864886f70d0302/;

/** The first match in the hex digits of the DER counts. The command reads stdin, and needs `forOldCipher` for those. */
const DER_FORMS: readonly (readonly [pattern: RegExp, contents: string, command: string, forOldCipher: string])[] = [
  [ENCRYPTED, 'an encrypted private key', 'openssl pkey -aes256 -inform DER', ` ${OLD_PROVIDERS}`],
  [PKCS12, 'PKCS#12', 'openssl pkcs12 -nodes -nocerts', ' -legacy'],
  [CERTIFICATE, 'a certificate', 'openssl x509 -inform DER -noout -pubkey', ''],
];

/** What is wrong with a text that has an {@link ARMOR}, but is no key for node:crypto. The first match decides. */
const PEM_FAULTS: readonly (readonly [pattern: RegExp, contents: string])[] = [
  [/\\n/, 'a PEM key with \\n written out instead of line breaks'],
  [/["']/, 'a PEM key in quotes'],
  [/\n/, 'a PEM key whose lines are indented or broken'],
  [/^/, 'a PEM key on one line'],
];
/** Decodes PEM even if all is on one line, with escaped line breaks, or after the name of a variable. */
const DECODE_BODY = `sed -nE '/-----BEGIN/,/-----END/{s/.*-----BEGIN [A-Z ]+-----//;s/-----END.*//;s/\\\\[rn]//g;p;}' FILE | tr -cd 'A-Za-z0-9+/=' | base64 -d`;
const DECODE = `tr -d '\\r' < FILE | tr '_-' '/+' | base64 -d`;

export interface KeyForm {
  readonly contents: string;
  /** Whether the program can use a key in this form. */
  readonly isUsable: boolean;
  /** For a usable form, what to do if the key was passed as a secret. */
  readonly hint: string;
}

/** Returns undefined if the bytes are in none of the known forms of keys. */
export function findKeyForm(bytes: Buffer, path?: string): KeyForm | undefined {
  const form = findForm(bytes, decodeText(bytes));
  if (form === undefined) return undefined;
  const [contents, remedy, furtherCommand = ''] = form;
  const isUsable = remedy === undefined;
  if (!remedy?.includes('FILE')) return { contents, isUsable, hint: remedy ?? PASS_AS_KEY };
  // A function, because a string could have `$` in the path, which `replace` would expand.
  const onFile = remedy.replace('FILE', () => (path === undefined ? 'FILE' : shellWord(path)));
  return { contents, isUsable, hint: `to convert it: ${intoNewFile(onFile, CONVERTED)}${furtherCommand}` };
}

function findForm(bytes: Buffer, text: string): FormRow | undefined {
  const inDer = findDerForm(bytes);
  if (inDer) return [`${inDer[0]} in DER`, `${inDer[1]} < FILE`];
  // Drops lines such as `-----BEGIN X-----` and `Comment: X`.
  const decoded = Buffer.from(text.replace(/^----.*$|^[\w-]+: .*$/gm, ''), 'base64');
  const searched = `${text}\0${decoded.toString('latin1')}`;
  const [, ...textForm] = TEXT_FORMS.find(([pattern]) => pattern.test(searched)) ?? [];
  if (textForm[0] !== undefined) return textForm as unknown as FormRow;
  if (text.includes(ARMOR)) return findPemForm(text);
  if (!BASE64.test(text)) return undefined;
  if (decoded.includes(ARMOR)) return ['a PEM key in base64', DECODE];
  if (decoded.includes('"kty"')) return ['a JWK in base64', DECODE];
  const inBase64 = findDerForm(decoded);
  if (inBase64) return [`${inBase64[0]} in base64`, `${DECODE} | ${inBase64[1]}`];
  const inHex = HEX.test(text) ? findDerForm(Buffer.from(text.replace(/\s/g, ''), 'hex')) : undefined;
  return inHex && [`${inHex[0]} in hex`, `xxd -r -p < FILE | ${inHex[1]}`];
}

function findPemForm(text: string): FormRow {
  const [, body = ''] = /-----BEGIN [A-Z0-9 ]+-----(.*?)(?:-----END|$)/s.exec(text) ?? [];
  // This keeps only the digits of base64.
  const der = Buffer.from(body.replace(/\\[rn]|[^\w+/]/g, ''), 'base64');
  const form = findDerForm(der);
  if (canReadPem(text)) return form?.[1].includes(OLD_PROVIDERS) ? OLD_PEM : ['a PEM key'];
  // Without a remedy, it is left to `loadKey`, which cannot read it either.
  if (form === undefined) return ['PEM text'];
  const [, contents = ''] = PEM_FAULTS.find(([pattern]) => pattern.test(text.trim())) ?? [];
  return [contents, `${DECODE_BODY} | ${form[1]}`];
}

function canReadPem(text: string): boolean {
  try {
    return loadPem(text) !== undefined;
  } catch (error) {
    // Node asks for the passphrase only if it has understood the rest.
    return /PASSPHRASE|CANCELLED/.test(errnoOf(error) ?? '');
  }
}

function findDerForm(der: Buffer): readonly [contents: string, command: string] | undefined {
  const key = loadDer(der);
  if (key?.type === 'private') return ['a private key', 'openssl pkey -inform DER'];
  if (key) return ['a public key', 'openssl pkey -pubin -inform DER -pubout'];
  const hex = der.toString('hex');
  const [, contents, command, forOldCipher] = DER_FORMS.find(([pattern]) => pattern.test(hex)) ?? [];
  return contents === undefined
    ? undefined
    : [contents, OLD_CIPHER.test(hex) ? `${command}${forOldCipher}` : `${command}`];
}

/** PKCS#8, PKCS#1, SEC1 or SPKI, or the key of a certificate. Throws the errors of node:crypto. */
export function loadPem(text: string, passphrase?: string): KeyObject {
  if (!text.includes('PRIVATE KEY-----')) return createPublicKey(text);
  return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
}

/** PKCS#8, PKCS#1, SEC1 or SPKI. */
function loadDer(key: Buffer): KeyObject | undefined {
  // Every such key is an ASN.1 SEQUENCE.
  if (key[0] !== 0x30) return undefined;
  const attempts = [
    ...(['pkcs8', 'pkcs1', 'sec1'] as const).map((type) => () => createPrivateKey({ key, format: 'der', type })),
    ...(['spki', 'pkcs1'] as const).map((type) => () => createPublicKey({ key, format: 'der', type })),
  ];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch {}
  }
  return undefined;
}
