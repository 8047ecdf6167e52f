import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Flags } from '../../spec/invocation.ts';
import type { World } from '../../world.ts';

/** What says which service is asked, by whom, and whether at all; in files, too, but those are stamped. */
const TELLING = SETTINGS.filter(
  ({ key, service }) => service || ['config', 'profile', 'sandbox', 'completeNames'].includes(key),
);

/**
 * Who asks for a filing's files, and where, so far as command line and environment say: the rest is in files (see
 * {@link stampOf}). Two that differ in anything are two texts; secrets are in it as SHA-256.
 */
export async function askerOf(
  accession: string,
  flags: Flags,
  { env, cwd }: Pick<World, 'env' | 'cwd'>,
): Promise<string> {
  const said: unknown[] = [];
  for (const spec of TELLING) {
    const given = flags[spec.key];
    const set = spec.env && env[spec.env];
    if (given !== undefined || set) said.push(spec.key, await told(spec, given, cwd), await told(spec, set, cwd));
  }
  return JSON.stringify([accession, env.HOME ?? null, env.XDG_CONFIG_HOME ?? null, ...said]);
}

async function told({ secret, kind }: NamedSetting, value: Flags[string], cwd: string): Promise<unknown> {
  if (typeof value !== 'string' || value === '') return value ?? null;
  if (kind.completes === 'file') return resolve(cwd, value);
  // An address may hold a password by mistake.
  if (!secret && !value.includes('@')) return value;
  // Most have none here, and loading it takes a tenth of a start.
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(value).digest('hex');
}

/**
 * What changes whenever a file does, its owner and permissions among it; the same for one that is not there.
 * Undefined for what is no plain file: reading it could take something from somebody, or never end.
 */
export function stampOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return '-';
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return stats.isFile() ? [dev, ino, size, mtimeNs, ctimeNs].join(':') : undefined;
}
