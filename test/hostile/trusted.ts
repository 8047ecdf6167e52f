import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { SecureContext, SecureContextOptions, SecureVersion, TlsOptions } from 'node:tls';
import { certificatePath, tlsWith } from '../servers/certificates.ts';

// Node reads NODE_EXTRA_CA_CERTS as it starts, which is over: the authority is added to each context that this process makes, and
// certificates are checked as ever. This object is the one by which Node itself makes them.
const tls: { createSecureContext: (options?: SecureContextOptions) => SecureContext } = createRequire(import.meta.url)(
  'node:tls',
);
const authority = readFileSync(certificatePath('own-name'));
let isTrusted = false;

/** What a server of that version of TLS is made of; from now on this process trusts it. */
export function trusted(version: SecureVersion): TlsOptions {
  const { createSecureContext } = tls;
  if (!isTrusted)
    tls.createSecureContext = (options) => {
      const made = createSecureContext(options);
      made.context.addCACert(authority);
      return made;
    };
  isTrusted = true;
  return { ...tlsWith('own-name'), minVersion: version, maxVersion: version };
}
