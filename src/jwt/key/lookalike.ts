import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { isDeeper, isJsonObject, parseJson } from '../../json.ts';
import { looksLikePem, looksLikeSsh } from './pem.ts';

/** Codings within codings that are taken off: base64 of UTF-16 of hex is no accident any more. */
const LAYERS = 3;

/**
 * Whether the bytes of a would-be secret are a key or a certificate in any of the usual clothes: whoever
 * knows its public part could sign (the algorithm confusion of RFC 8725 section 2.1).
 */
export function looksLikeKey(secret: Buffer): boolean {
  return isKey(secret, LAYERS);
}

function isKey(bytes: Buffer, layers: number): boolean {
  if (isDerKey(bytes) || isSshBlob(bytes)) return true;
  const texts = textsOf(bytes);
  return texts.some(isKeyText) || (layers > 0 && texts.flatMap(undressed).some((inner) => isKey(inner, layers - 1)));
}

/** What the bytes may say as text: one byte a character, or UTF-16 in either order; without byte-order marks. */
function textsOf(bytes: Buffer): readonly string[] {
  const texts = [bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '')];
  if (bytes.includes(0)) {
    const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
    texts.push(even.toString('utf16le'), even.swap16().toString('utf16le'));
  }
  return texts.map((text) => text.replace(/^\ufeff/, ''));
}

function isKeyText(text: string): boolean {
  return looksLikePem(text) || looksLikeSsh(text) || text.includes('<RSAKeyValue') || isJwk(text);
}

/** A JWK, a set of them, or what holds one. */
function isJwk(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  const value = parseJson(text);
  return value === undefined || isDeeper(value) ? text.includes('"kty"') : holdsJwk(value);
}

function holdsJwk(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsJwk);
  return isJsonObject(value) && (Object.hasOwn(value, 'kty') || Object.values(value).some(holdsJwk));
}

/** What text is a coding of, where it can be one: hex, base64, percent-encoding, a JSON string. */
function undressed(text: string): readonly Buffer[] {
  const bare = text.replace(/\s/g, '');
  const hex = bare.replace(/^0x|:/gi, '');
  const inner: Buffer[] = [];
  if (/^(?:[0-9a-f]{2})+$/i.test(hex)) inner.push(Buffer.from(hex, 'hex'));
  if (/^[\w+/=-]+$/.test(bare)) inner.push(Buffer.from(bare, 'base64'));
  const plain = text
    .replaceAll('+', ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  if (plain !== text) inner.push(Buffer.from(plain, 'latin1'));
  if (bare.startsWith('"')) {
    const value = parseJson(text);
    if (typeof value === 'string') inner.push(Buffer.from(value));
  }
  return inner;
}

/** The identifiers that keys, certificates and PKCS#7, #10 and #12 are full of: PKCS, EC keys, Ed25519 and its kin. */
const IDENTIFIERS = [
  '2a864886f70d01',
  '06072a8648ce3d0201',
  '06032b656e',
  '06032b656f',
  '06032b6570',
  '06032b6571',
].map((hex) => Buffer.from(hex, 'hex'));

function isDerKey(bytes: Buffer): boolean {
  if (bytes[0] !== 0x30) return false;
  if (isWholeSequence(bytes) && IDENTIFIERS.some((identifier) => bytes.includes(identifier))) return true;
  const der = { key: bytes, format: 'der' } as const;
  return [
    () => createPublicKey({ ...der, type: 'spki' }),
    () => createPublicKey({ ...der, type: 'pkcs1' }),
    () => createPrivateKey({ ...der, type: 'pkcs1' }),
    () => createPrivateKey({ ...der, type: 'sec1' }),
    () => new X509Certificate(bytes),
  ].some(succeeds);
}

/** Whether the length at the beginning is that of the rest, give or take a line break behind it, or left open. */
function isWholeSequence(bytes: Buffer): boolean {
  const first = bytes[1] ?? 0;
  const lengthBytes = first & 0x7f;
  if (first < 0x80) return Math.abs(bytes.length - 2 - first) <= 2;
  if (lengthBytes === 0) return true;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) return false;
  const over = bytes.length - 2 - lengthBytes - bytes.readUIntBE(2, lengthBytes);
  return over >= 0 && over <= 2;
}

/** A key of SSH before it is put into base64 (RFC 4253 section 6.6), or the inside of its private key file. */
function isSshBlob(bytes: Buffer): boolean {
  const beginning = bytes.toString('latin1', 0, 20);
  if (beginning.startsWith('openssh-key-v1')) return true;
  return /^(?:ssh-|ecdsa-sha2-|sk-)/.test(beginning.slice(4)) && bytes.readUInt32BE(0) <= 64;
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
