import { resolve } from 'node:path';
import { createNewFiles, type NewFile } from '../../disk/new-file.ts';
import { FilingsError } from '../../errors.ts';
import { ALGORITHM_NAMES, requireAlgorithm } from '../../jwt/algorithms.ts';
import { generateKey } from '../../jwt/keygen.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { tell } from './common.ts';
import type { KEYGEN_OPTIONS } from './spec.ts';

/** Makes a key: the private part into a file that is nobody else's, the public part to stdout. */
export async function run(invocation: Invocation<typeof KEYGEN_OPTIONS>, world: World): Promise<number> {
  const { args, options } = invocation;
  if (args.length > 0) throw new FilingsError('usage', 'token keygen: it takes no argument');
  const algorithm = requireAlgorithm(
    required(options.alg, '--alg ALG', `one of ${ALGORITHM_NAMES.join(', ')}`),
    '--alg',
  );
  const out = fileNamed(required(options.out, '--out FILE', 'where the private key goes'), '--out');
  const { public: publicFile, format, kid } = options;
  if (algorithm.family === 'HS' && publicFile !== undefined) {
    throw new FilingsError('usage', `--public: ${algorithm.name} has a shared secret, and no public key`);
  }
  const { privatePart, publicPart } = await generateKey(algorithm, format, kid);
  const files: NewFile[] = [{ path: resolve(world.cwd, out), bytes: privatePart, mode: 0o600 }];
  if (publicPart !== undefined && publicFile !== undefined) {
    files.push({ path: resolve(world.cwd, fileNamed(publicFile, '--public')), bytes: publicPart, mode: 0o644 });
  }
  await createNewFiles(files);
  if (publicPart !== undefined) await write(world.stdout, publicPart, world.interrupt);
  await tell('note', advice(out, publicPart), invocation, world);
  return 0;
}

function required(value: string | undefined, flag: string, what: string): string {
  if (value !== undefined) return value;
  throw new FilingsError('usage', `token keygen: ${flag} is missing`, { hint: `${flag}: ${what}` });
}

function fileNamed(path: string, flag: string): string {
  if (path !== '-') return path;
  throw new FilingsError('usage', `${flag}: it must be a file`, {
    hint: 'the public key goes to stdout anyway; the private one never does',
  });
}

/** What to do with what was made (contract part 5, "Enabling JWT for an API key"). */
function advice(out: string, publicPart: string | undefined): string[] {
  if (publicPart === undefined) {
    return [
      `the secret is in ${out}, which only you can read`,
      'the service must know the same secret: hand it over in a safe way',
    ];
  }
  return [
    `the private key is in ${out}, which only you can read: it stays with you`,
    `import the public key above into the service's customer portal, for your API key`,
  ];
}
