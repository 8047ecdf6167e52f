import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { FilingsError } from '../../errors.ts';
import { belongTogether, rsaNumbers } from './rsa-numbers.ts';

const PROBE = Buffer.from('probe');

/**
 * Refuses a private key whose parts don't belong together: what it signs, its own
 * public half would not verify, and jose fails on it with a defect's words. Throws `config`.
 */
export function requireSoundPair(keyObject: KeyObject, what: string): void {
  if (keyObject.type !== 'private' || isSound(keyObject)) return;
  throw new FilingsError('config', `${what}: the key's parts don't belong together`, {
    hint: 'it was put together from two keys, or damaged: take it from where it was made',
  });
}

function isSound(keyObject: KeyObject): boolean {
  const kind = keyObject.asymmetricKeyType ?? '';
  // Before anything is signed: with numbers that are too large that would take minutes.
  if (kind === 'rsa' && !belongTogether(rsaNumbers(keyObject))) return false;
  const hash = /^(rsa|ec)/.test(kind) ? 'sha256' : null;
  try {
    return verify(hash, PROBE, createPublicKey(keyObject), sign(hash, PROBE, keyObject));
  } catch {
    // Of a kind that can't sign, or that this hash does not suit: whether it may serve is said elsewhere.
    return !/^(rsa|ec)$/.test(kind);
  }
}
