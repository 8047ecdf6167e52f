import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';

const folder = join(import.meta.dirname, '../fixtures/tls');

export type Certificate = 'own-name' | 'other-name' | 'api-example' | 'expired';

/** The path of a certificate, for NODE_EXTRA_CA_CERTS. */
export const certificatePath = (name: Certificate): string => join(folder, `${name}.pem`);

export const tlsWith = (name: Certificate): TlsOptions => ({
  key: readFileSync(join(folder, 'key.pem')),
  cert: readFileSync(certificatePath(name)),
});
