// Recognizes keys in the forms that portals and tools hand out: DER, a JWK Set, a PEM key that was in an environment
// variable. The error has the command that converts the key. This program does not convert it, because two programs
// that repair a damaged key differently would use different keys.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { intoNewFile, shellWord } from '../text.ts';

/** The command prints a usable key, and has the word FILE once, which the path replaces. */
type Form = readonly [contents: string, command: string, outputName?: string];

export const ARMOR = '-----BEGIN ';
/** Base64 or base64url, which may be broken into lines. */
const BASE64 = /^[\w+/=\s-]+$/;

/** The commands print the first of several keys. */
const JSON_FORMS: readonly (readonly [pattern: RegExp, form: Form])[] = [
  [/^\s*\[\s*\{/, ['a list of JWKs', `jq '.[0]' FILE`, 'converted.jwk']],
  [/^\s*\{.*"keys"\s*:\s*\[/s, ['a JWK Set', `jq '.keys[0]' FILE`, 'converted.jwk']],
  [
    /^\s*\{.*:\s*"-----BEGIN /s,
    ['JSON that holds a PEM key', `jq -r 'first(.[] | strings | select(startswith("${ARMOR}")))' FILE`],
  ],
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
const DECODE = `tr -d '\\r' < FILE | base64 -d`;

/** Returns undefined if `loadKey` can read the file, or if it is in none of the known forms. */
export function findUnusableForm(bytes: Buffer, text: string, path?: string) {
  const form = findForm(bytes, text);
  if (form === undefined) return undefined;
  const [contents, command, outputName = 'converted.pem'] = form;
  const file = path === undefined ? 'FILE' : shellWord(path);
  // A function, because a string could have `$` in the path, which `replace` would expand.
  const onFile = command.replace('FILE', () => file);
  return { contents, hint: `to convert it: ${intoNewFile(onFile, outputName)}` };
}

function findForm(bytes: Buffer, text: string): Form | undefined {
  const key = loadDer(bytes);
  if (key) return [`a ${key.type} key in DER, not in PEM`, `${createPemCommand(key)} < FILE`];
  const json = JSON_FORMS.find(([pattern]) => pattern.test(text));
  if (json) return json[1];
  if (text.includes(ARMOR)) {
    if (tryTo(() => loadPem(text))) return undefined;
    const [, body = ''] = /-----BEGIN [A-Z ]+-----(.*?)(?:-----END|$)/s.exec(text) ?? [];
    const [, contents = ''] = PEM_FAULTS.find(([pattern]) => pattern.test(text.trim())) ?? [];
    // `replace` keeps only the digits of base64. An encrypted key is left to loadKey: without a passphrase, it is no
    // key here.
    return findDerForm(body.replace(/\\[rn]|[^\w+/]/g, ''), contents, DECODE_BODY);
  }
  if (!BASE64.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.includes(ARMOR)) return ['a PEM key in base64', DECODE];
  if (decoded.includes('"kty"')) return ['a JWK in base64', DECODE, 'converted.jwk'];
  return findDerForm(text, 'a key in base64 without the first and last lines of PEM', DECODE);
}

function findDerForm(base64: string, contents: string, decode: string): Form | undefined {
  const key = loadDer(Buffer.from(base64, 'base64'));
  return key && [contents, `${decode} | ${createPemCommand(key)}`];
}

function createPemCommand({ type }: KeyObject): string {
  return type === 'private' ? 'openssl pkey -inform DER' : 'openssl pkey -pubin -inform DER -pubout';
}

/** PKCS#8, PKCS#1, SEC1 or SPKI, or the key of a certificate. Throws the errors of node:crypto. */
export function loadPem(text: string, passphrase?: string): KeyObject {
  if (!text.includes('PRIVATE KEY-----')) return createPublicKey(text);
  return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
}

/** PKCS#8, PKCS#1, SEC1 or SPKI. */
export function loadDer(key: Buffer): KeyObject | undefined {
  // Every such key is an ASN.1 SEQUENCE.
  if (key[0] !== 0x30) return undefined;
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    const privateKey = tryTo(() => createPrivateKey({ key, format: 'der', type }));
    if (privateKey) return privateKey;
  }
  return (
    tryTo(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    tryTo(() => createPublicKey({ key, format: 'der', type: 'pkcs1' }))
  );
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Portals often show a secret in base64, but the decoded bytes are the key. */
export function hintAboutSecret(secret: Buffer, path?: string): string {
  const advice = 'a secret that is shown in base64 must be decoded first';
  if (path === undefined || !BASE64.test(secret.toString('latin1'))) return advice;
  return `${advice}: ${intoNewFile(`base64 -d < ${shellWord(path)}`, 'secret.bin')}`;
}
