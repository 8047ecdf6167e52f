// Recognizes keys in forms that people have at hand but that are neither PEM nor JWK: DER, a JWK Set, a PEM key that
// went through an environment variable. Gives the command that converts each. No form is converted here, because a key
// that two programs read differently is dangerous.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { intoNewFile, shellWord } from '../text.ts';

/** What a file holds, with its article, and the command that writes a usable key from FILE. */
type Form = readonly [seen: string, command: string, out?: string];

export const ARMOUR = '-----BEGIN ';
const BASE64 = /^[\w+/=\s-]+$/;

const JSON_FORMS: readonly (readonly [pattern: RegExp, form: Form])[] = [
  [/^\s*\[\s*\{/, ['a list of JWKs', `jq '.[0]' FILE`, 'converted.jwk']],
  [/^\s*\{.*"keys"\s*:\s*\[/s, ['a JWK Set', `jq '.keys[0]' FILE`, 'converted.jwk']],
  [
    /^\s*\{.*:\s*"-----BEGIN /s,
    ['JSON that holds a PEM key', `jq -r 'first(.[] | strings | select(startswith("${ARMOUR}")))' FILE`],
  ],
];

/** What has happened to a PEM key that cannot be read as it is. */
const PEM_FAULTS: readonly (readonly [pattern: RegExp, seen: string])[] = [
  [/\\n/, 'a PEM key with \\n written out in place of line breaks'],
  [/["']/, 'a PEM key in quotes'],
  [/\n/, 'a PEM key whose lines are indented or broken'],
  [/^/, 'a PEM key on one line'],
];
/** Takes what is between the first and the last line, without the name of a variable before them. */
const STRIP_ARMOUR = `sed -nE '/-----BEGIN/,/-----END/{s/.*-----BEGIN [A-Z ]+-----//;s/-----END.*//;s/\\\\[rn]//g;p;}' FILE | tr -cd 'A-Za-z0-9+/=' | base64 -d`;
const DECODE = `tr -d '\\r' < FILE | base64 -d`;

/** Returns what a file holds in place of a PEM key or a JWK, with the command that converts it, or undefined. */
export function findKeyForm(bytes: Buffer, text: string, path?: string) {
  const form = findForm(bytes, text);
  if (form === undefined) return undefined;
  const [seen, command, out = 'converted.pem'] = form;
  const file = path === undefined ? 'FILE' : shellWord(path);
  return {
    seen,
    hint: `to convert it: ${intoNewFile(
      command.replace('FILE', () => file),
      out,
    )}`,
  };
}

function findForm(bytes: Buffer, text: string): Form | undefined {
  const key = loadDer(bytes);
  if (key) return [`a ${key.type} key in DER, not in PEM`, `${toPem(key)} < FILE`];
  const json = JSON_FORMS.find(([pattern]) => pattern.test(text));
  if (json) return json[1];
  if (text.includes(ARMOUR)) {
    if (attempt(() => loadPem(text))) return undefined;
    const [, body = ''] = /-----BEGIN [A-Z ]+-----(.*?)(?:-----END|$)/s.exec(text) ?? [];
    const [, seen = ''] = PEM_FAULTS.find(([pattern]) => pattern.test(text.trim())) ?? [];
    return derForm(body.replace(/\\[rn]|[^\w+/]/g, ''), seen, STRIP_ARMOUR);
  }
  if (!BASE64.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.includes(ARMOUR)) return ['a PEM key in base64', DECODE];
  if (decoded.includes('"kty"')) return ['a JWK in base64', DECODE, 'converted.jwk'];
  return derForm(text, 'a key in base64 without the first and last lines of PEM', DECODE);
}

function derForm(base64: string, seen: string, decode: string): Form | undefined {
  const key = loadDer(Buffer.from(base64, 'base64'));
  return key && [seen, `${decode} | ${toPem(key)}`];
}

function toPem({ type }: KeyObject): string {
  return type === 'private' ? 'openssl pkey -inform DER' : 'openssl pkey -pubin -inform DER -pubout';
}

/** Returns a key in PEM: PKCS#8, PKCS#1, SEC1 or SPKI. Throws errors of node:crypto. */
export function loadPem(text: string, passphrase?: string): KeyObject {
  if (!text.includes('PRIVATE KEY-----')) return createPublicKey(text);
  return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
}

/** Returns a key in DER, or undefined: PKCS#8, PKCS#1, SEC1 or SPKI. */
export function loadDer(key: Buffer): KeyObject | undefined {
  if (key[0] !== 0x30) return undefined;
  for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
    const found = attempt(() => createPrivateKey({ key, format: 'der', type }));
    if (found) return found;
  }
  return (
    attempt(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    attempt(() => createPublicKey({ key, format: 'der', type: 'pkcs1' }))
  );
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Returns the hint for an HMAC signature that does not match. Portals often show the secret in base64, while the service
 * signs with the bytes.
 */
export function secretHint(secret: Buffer, path?: string): string {
  const sentence = 'a secret that is shown in base64 must be decoded first';
  if (path === undefined || !BASE64.test(secret.toString('latin1'))) return sentence;
  return `${sentence}: ${intoNewFile(`base64 -d < ${shellWord(path)}`, 'secret.bin')}`;
}
