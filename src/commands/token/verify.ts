import { FilingsError } from '../../errors.ts';
import { requireAlgorithm } from '../../jwt/algorithms.ts';
import { readJwtKey } from '../../jwt/key-file.ts';
import { lineBreakWarning } from '../../jwt/keys.ts';
import { verifyToken } from '../../jwt/verify.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { isFromStdin, keyFilesOf, readTokenInput, signedTexts, tell, tokenOnStdin } from './common.ts';
import type { VERIFY_OPTIONS } from './spec.ts';

/** Checks one token; valid: prints its claims. */
export async function run(invocation: Invocation<typeof VERIFY_OPTIONS>, world: World): Promise<number> {
  const { args, options } = invocation;
  const algorithms = options.alg.map((name) => requireAlgorithm(name, '--alg').name);
  const { leeway, at } = options;
  if (options.key === undefined && options.secretFile === undefined) {
    throw new FilingsError('usage', 'token verify: no key to check the token with', {
      hint: 'give --key FILE or --secret-file FILE',
    });
  }
  const files = await keyFilesOf(invocation, world, isFromStdin(args[0]) ? tokenOnStdin(args[0]) : undefined);
  const key = await readJwtKey(files, 'verify', world);
  const token = await readTokenInput(args[0], world);
  const verdict = await verifyToken(token, [key], {
    ...(algorithms.length > 0 && { algorithms }),
    leewaySeconds: leeway / 1000,
    // Now is when the token has come: a pipe may have taken its time.
    atSeconds: (at ?? world.now()) / 1000,
  });
  await tell('warning', [lineBreakWarning(key)], invocation, world);
  if (!verdict.valid) {
    const { failedCheck: failed_check, reason, hint } = verdict;
    const told = { valid: false, failed_check, reason, ...(hint !== undefined && { hint }) };
    if (options.json) await write(world.stdout, `${printableJson(told)}\n`, world.interrupt);
    const details = hint === undefined ? {} : { hint };
    throw new FilingsError('auth', `the token is not valid (${failed_check}): ${reason}`, details);
  }
  const { header, claims } = signedTexts(token);
  const text = options.json ? `{"valid":true,"header":${header},"claims":${claims}}` : claims;
  await write(world.stdout, `${text}\n`, world.interrupt);
  return 0;
}
