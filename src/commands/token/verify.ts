import { FilingsError } from '../../errors.ts';
import { requireAlgorithm } from '../../jwt/algorithms.ts';
import { readVerificationKey } from '../../jwt/key-file.ts';
import { lineBreakWarning } from '../../jwt/keys.ts';
import { type Verification, verifyToken } from '../../jwt/verify.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { isFromStdin, keyFilesOf, readTokenInput, tell, tokenOnStdin } from './common.ts';
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
  const key = await readVerificationKey(files, world);
  const token = await readTokenInput(args[0], world);
  const verdict = await verifyToken(token, [key], {
    ...(algorithms.length > 0 && { algorithms }),
    leewaySeconds: leeway / 1000,
    // Now is when the token has come: a pipe may have taken its time.
    atSeconds: (at ?? world.now()) / 1000,
  });
  await tell('warning', [lineBreakWarning(key)], invocation, world);
  if (options.json) await write(world.stdout, `${printableJson(asJson(verdict))}\n`, world.interrupt);
  if (!verdict.valid) throw notValid(verdict);
  if (!options.json) await write(world.stdout, `${printableJson(verdict.claims)}\n`, world.interrupt);
  return 0;
}

function asJson(verdict: Verification) {
  if (verdict.valid) return { valid: true, header: verdict.header, claims: verdict.claims };
  const { failedCheck, reason, hint } = verdict;
  return { valid: false, failed_check: failedCheck, reason, ...(hint !== undefined && { hint }) };
}

function notValid({ failedCheck, reason, hint }: Verification & { valid: false }): FilingsError {
  return new FilingsError(
    'auth',
    `the token is not valid (${failedCheck}): ${reason}`,
    hint === undefined ? {} : { hint },
  );
}
