import { createNewFiles, type NewFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { generateKey } from '../../jwt/keygen.ts';
import { resolveUserPath } from '../../paths.ts';
import { printMessage } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write, writeText } from '../../stdio/output.ts';
import { isStreamPath, resolveFilePath } from '../../stdio/output-path.ts';
import type { World } from '../../world.ts';
import type { KEYGEN_OPTIONS } from './spec.ts';

/** What the portal needs goes to stdout: the public key, unless `--public` names a file for it, or the secret. */
export async function run({ options, flags }: Invocation<typeof KEYGEN_OPTIONS>, world: World): Promise<number> {
  const { alg, out, public: publicFile, format, kid } = options;
  // A spec cannot say that an option is required.
  if (alg === undefined || out === undefined)
    throw new FilingsError('usage', 'give both --alg ALG and --out FILE', { subject: { name: 'token keygen' } });
  if (kid !== undefined && format !== 'jwk')
    throw new FilingsError('usage', 'has no effect without --format jwk', { subject: { name: '--kid' } });
  const outPath = await resolveFilePath('--out', out, world);
  // `signingKey` is the private key, or an HMAC secret, which has no `publicKey`.
  const { signingKey, publicKey, shownSecret } = await generateKey(alg, format, kid);
  const files: NewFile[] = [{ path: outPath, bytes: signingKey, mode: 0o600, protection: 'private' }];
  if (publicFile !== undefined) {
    const subject = { name: '--public' };
    const path = resolveUserPath(publicFile, world);
    if (publicKey === undefined)
      throw new FilingsError('usage', `${alg.name} uses a secret, and has no public key`, { subject });
    if (path === outPath) throw new FilingsError('usage', 'is the same file as --out', { subject });
    files.push({ path, bytes: publicKey, mode: 0o644 });
  }
  const isStream = await isStreamPath(outPath);
  // If one file cannot be created, the others are removed again.
  await createNewFiles(isStream ? files.slice(1) : files, world);
  if (isStream) await writeText(outPath, signingKey, world);
  if (publicFile === undefined) await write(world.stdout, shownSecret ?? publicKey ?? '', world.interrupt);
  // docs/service.md, section 6.
  const keyToImport =
    publicFile ?? (shownSecret === undefined ? 'the printed public key' : 'the printed secret (base64)');
  const advice = `keep ${out} secret, and import ${keyToImport} in the service's customer portal, under the API key that you will send with the tokens`;
  await printMessage('note', advice, flags, world);
  return 0;
}
