import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { looksLikePem, looksLikeSsh } from './pem.ts';

/** Whether the bytes of a would-be secret are a key or a certificate in any of the usual clothes. */
export function looksLikeKey(secret: Buffer): boolean {
  const text = secret.toString('latin1');
  if (looksLikePem(text) || looksLikeSsh(text) || /^\s*\{.*"kty"/s.test(text)) return true;
  const isBase64 = /^[\w+/=\s-]+$/.test(text);
  return isDerKey(secret) || (isBase64 && isDerKey(Buffer.from(text, 'base64')));
}

function isDerKey(bytes: Buffer): boolean {
  if (bytes[0] !== 0x30) return false;
  const der = { key: bytes, format: 'der' } as const;
  const readers = [
    () => createPublicKey({ ...der, type: 'spki' }),
    () => createPublicKey({ ...der, type: 'pkcs1' }),
    () => createPrivateKey({ ...der, type: 'pkcs8' }),
    () => createPrivateKey({ ...der, type: 'pkcs1' }),
    () => createPrivateKey({ ...der, type: 'sec1' }),
    () => new X509Certificate(bytes),
  ];
  return readers.some((read) => {
    try {
      read();
      return true;
    } catch {
      return false;
    }
  });
}
