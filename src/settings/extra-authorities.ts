import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, FilingsError } from '../errors.ts';
import type { World } from '../world.ts';

const NAME = 'NODE_EXTRA_CA_CERTS';
/** A hundred times what the authorities of a browser take. Bytes. */
const LARGEST = 32 * 1024 * 1024;
const CERTIFICATE = /-----BEGIN (?:X509 )?CERTIFICATE-----[^-]*-----END (?:X509 )?CERTIFICATE-----/g;

/**
 * Whether the authorities that the environment adds can be used. Node reads them before this program starts, and goes
 * on without those that it can't read: every connection would fail later, for a reason that nobody sees.
 * @throws FilingsError `config`
 */
export async function checkExtraAuthorities({ env, cwd }: Pick<World, 'env' | 'cwd'>): Promise<void> {
  const named = env[NAME];
  if (!named) return;
  const text = textOf(resolve(cwd, named));
  if (text === undefined) return;
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw unusable(resolve(cwd, named), 'holds no certificate');
  const { X509Certificate } = await import('node:crypto');
  certificates.forEach((certificate, index) => {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw unusable(resolve(cwd, named), `certificate ${index + 1} of ${certificates.length} cannot be read`, cause);
    }
  });
}

/** Undefined for a pipe, which Node has read to its end. */
function textOf(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (stats.isFIFO()) return undefined;
    if (!stats.isFile()) throw unusable(path, 'not a regular file');
    if (stats.size > LARGEST) throw unusable(path, 'larger than 32 MiB');
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (cause instanceof FilingsError) throw cause;
    const errno = errnoOf(cause);
    const why = errno === 'ENOENT' || errno === 'ENOTDIR' ? 'no such file' : `cannot be read (${errno})`;
    throw unusable(path, errno === 'EACCES' ? 'no permission to read it' : why, cause);
  }
}

function unusable(path: string, why: string, cause?: unknown): FilingsError {
  return new FilingsError('config', `${NAME} ${path}: ${why}`, {
    hint: `it must name a file of certificates in PEM; unset it to do without`,
    cause,
  });
}
