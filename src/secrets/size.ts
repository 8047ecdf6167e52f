import { FilingsError } from '../errors.ts';

/** Every coding of a secret is looked for in whatever is said: for a megabyte, making them takes seconds. */
const LARGEST_KIB = 64;

/** Refuses what is too large for a secret, before anything is done with it. Throws `config`. */
export function requireSecretSize({ length }: { readonly length: number }, name: string): void {
  if (length > LARGEST_KIB * 1024) {
    throw new FilingsError('config', `${name}: larger than ${LARGEST_KIB} KiB, which no secret is`);
  }
}
