import { createNewFiles, type NewFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { generateKey } from '../../jwt/keygen.ts';
import { typedPath } from '../../paths.ts';
import { printMessage } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import type { KEYGEN_OPTIONS } from './spec.ts';

/** Generates a key and writes it to new files. Returns 0. Throws `usage`, and `local_io` if a file exists. */
export async function run({ options, flags }: Invocation<typeof KEYGEN_OPTIONS>, world: World): Promise<number> {
  const { alg, out, public: publicFile, format, kid } = options;
  if (alg === undefined || out === undefined)
    throw new FilingsError('usage', 'give both --alg ALG and --out FILE', { subject: { name: 'token keygen' } });
  const { privatePart, publicPart } = await generateKey(alg, format, kid);
  const files: NewFile[] = [{ path: typedPath(out, world), bytes: privatePart, mode: 0o600 }];
  if (publicFile !== undefined) {
    const subject = { name: '--public' };
    const path = typedPath(publicFile, world);
    if (publicPart === undefined)
      throw new FilingsError('usage', `${alg.name} has a shared secret, and no public key`, { subject });
    if (path === files[0]?.path) throw new FilingsError('usage', 'names the same file as --out', { subject });
    files.push({ path, bytes: publicPart, mode: 0o644 });
  }
  await createNewFiles(files);
  if (publicPart !== undefined && publicFile === undefined) await write(world.stdout, publicPart, world.interrupt);
  // The service verifies tokens with the imported public key (service.md, section 6).
  const shared = publicPart === undefined ? 'the same secret' : (publicFile ?? 'the public key above');
  const next = `import ${shared} into the service's customer portal, for your API key`;
  await printMessage('note', `${out} is secret, and only you can read it; ${next}`, flags, world);
  return 0;
}
