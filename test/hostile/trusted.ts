import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { SecureContext, SecureContextOptions, SecureVersion, TlsOptions } from 'node:tls';
import { certificatePath, tlsWith } from '../servers/certificates.ts';

// Node reads NODE_EXTRA_CA_CERTS at its start. This function therefore adds the test's authority to each TLS context
// that the process creates; certificates are still checked. Node creates all contexts through this object.
const tls: { createSecureContext: (options?: SecureContextOptions) => SecureContext } = createRequire(import.meta.url)(
  'node:tls',
);
const authority = readFileSync(certificatePath('own-name'));
let isTrusted = false;

/** TLS options of a server with this version. From then on, the process trusts its certificate. */
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
