// Recognizes keys in forms that people have at hand but that are neither PEM nor JWK: DER, a JWK Set, a PEM key that
// went through an environment variable, an SSH key. Gives the command that converts each. No form is converted here,
// because a key that two programs read differently is dangerous.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { errnoOf } from '../errors.ts';
import { isJsonObject, parseJson } from '../json.ts';
import { intoNewFile, shellWord } from '../text.ts';

interface KeyForm {
  /** What it is, with its article. */
  readonly seen: string;
  readonly hint: string;
}

const ARMOUR = '-----BEGIN ';
const BASE64 = /^[\w+/=\s-]+$/;

/** Returns the form of a key that must be converted, with the command, or undefined for any other file. */
export function findKeyForm(bytes: Buffer, text: string, path?: string): KeyForm | undefined {
  const file = path === undefined ? 'FILE' : shellWord(path);
  const form = (seen: string, command: string, out = 'converted.pem'): KeyForm => ({
    seen,
    hint: `to convert it: ${intoNewFile(command, out)}`,
  });
  const [what, options] = readDer(bytes) ?? [];
  if (what !== undefined) return form(`${what} in DER, not in PEM`, `openssl ${options} < ${file}`);
  if (text.includes('-----BEGIN OPENSSH PRIVATE KEY')) {
    const { seen, hint } = form('an OpenSSH private key', `cat ${file}`);
    return { seen, hint: `${hint} && ssh-keygen -p -N '' -m PKCS8 -f converted.pem` };
  }
  if (/^(?:ssh|ecdsa)-\S+ AAAA/.test(text)) {
    return form('an OpenSSH public key', `ssh-keygen -e -m PKCS8 -f ${file}`);
  }
  const json = parseJson(text);
  if (json !== undefined && typeof json !== 'string') return jsonForm(json, form, file);
  const derForm = (der: Buffer, seen: string, command: string): KeyForm | undefined => {
    const [, options] = readDer(der) ?? [];
    return options === undefined ? undefined : form(seen, `${command} | openssl ${options}`);
  };
  if (text.includes(ARMOUR)) {
    if (isKey(text)) return undefined;
    const body = text.replace(/-----[A-Z ]+-----/g, '').replace(/\\[rn]/g, '');
    const strip = `sed -E 's/-----[A-Z ]+-----//g; s/\\\\[rn]//g' ${file} | tr -cd 'A-Za-z0-9+/=' | base64 -d`;
    return derForm(Buffer.from(body.replace(/[^\w+/]/g, ''), 'base64'), pemFault(text), strip);
  }
  if (!BASE64.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  const decode = `tr -d '\\r' < ${file} | base64 -d`;
  if (decoded.includes(ARMOUR)) return form('a PEM key in base64', decode);
  if (decoded.includes('"kty"')) return form('a JWK in base64', decode, 'converted.jwk');
  return derForm(decoded, 'a key in base64 without the first and last lines of PEM', decode);
}

function jsonForm(
  json: unknown,
  form: (seen: string, command: string, out?: string) => KeyForm,
  file: string,
): KeyForm | undefined {
  if (Array.isArray(json)) return form('a list of JWKs', `jq '.[0]' ${file}`, 'converted.jwk');
  if (!isJsonObject(json) || 'kty' in json) return undefined;
  if (Array.isArray(json.keys)) return form('a JWK Set', `jq '.keys[0]' ${file}`, 'converted.jwk');
  const [name] = Object.entries(json).find(([, value]) => typeof value === 'string' && value.includes(ARMOUR)) ?? [];
  return name === undefined ? undefined : form('JSON that holds a PEM key', `jq -r '.["${name}"]' ${file}`);
}

/** Returns what has happened to the lines of a PEM key. */
function pemFault(text: string): string {
  if (text.includes('\\n')) return 'a PEM key with \\n written out in place of line breaks';
  if (/["']/.test(text)) return 'a PEM key in quotes';
  return text.trim().includes('\n') ? 'a PEM key whose lines are indented or broken' : 'a PEM key on one line';
}

/** Returns what is in DER and the arguments with which openssl turns it into PEM, or undefined for other bytes. */
function readDer(der: Buffer): readonly [what: string, options: string] | undefined {
  if (der[0] !== 0x30) return undefined;
  const key = loadDer(der);
  if (key?.type === 'private') return ['a private key', 'pkey -inform DER'];
  if (key !== undefined) return ['a public key', 'pkey -pubin -inform DER -pubout'];
  // PKCS#12 begins with version 3 (RFC 7292, section 4).
  if (der.subarray(0, 8).includes(Buffer.of(2, 1, 3))) return ['PKCS#12', 'pkcs12 -nocerts -nodes'];
  if (succeeds(() => new X509Certificate(der))) return ['a certificate', 'x509 -inform DER -noout -pubkey'];
  const isEncrypted = wantsPassphrase(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return isEncrypted ? ['an encrypted key', 'pkcs8 -inform DER'] : undefined;
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

/** Returns whether the text is a key as it is, even if it needs a passphrase. */
function isKey(pem: string): boolean {
  const load = () => (pem.includes('PRIVATE KEY-----') ? createPrivateKey(pem) : createPublicKey(pem));
  return succeeds(load) || wantsPassphrase(load);
}

function wantsPassphrase(load: () => unknown): boolean {
  try {
    load();
    return false;
  } catch (error) {
    // Node reads DER and PEM in two ways.
    return ['ERR_MISSING_PASSPHRASE', 'ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED'].includes(errnoOf(error) ?? '');
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function succeeds(work: () => unknown): boolean {
  return attempt(work) !== undefined;
}

/**
 * Returns the hint for an HMAC signature that does not match. Portals often show the secret in base64 or in hex, while
 * the service signs with the bytes.
 */
export function secretHint(secret: Buffer, path?: string): string {
  const text = secret.toString('latin1').trim();
  const isHex = /^(?:[\da-f]{2})+$/i.test(text);
  const sentence = `a secret that is shown in ${isHex ? 'hex' : 'base64'} must be decoded first`;
  if (path === undefined || !BASE64.test(text)) return sentence;
  return `${sentence}: ${intoNewFile(`${isHex ? 'xxd -r -p' : 'base64 -d'} < ${shellWord(path)}`, 'secret.bin')}`;
}
