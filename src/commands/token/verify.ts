import { FilingsError } from '../../errors.ts';
import { readJwtKey } from '../../jwt/keys.ts';
import { verifyToken } from '../../jwt/verify.ts';
import { printMessage } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { isStdin, readKeyOptions, readTokenInput } from './inputs.ts';
import { printableParts, reportRefusal } from './results.ts';
import type { VERIFY_OPTIONS } from './spec.ts';

export async function run(invocation: Invocation<typeof VERIFY_OPTIONS>, world: World): Promise<number> {
  const { args, options, flags } = invocation;
  const { alg: algorithms, leeway, at, json } = options;
  // If the token comes from stdin, the key cannot.
  const given = readKeyOptions(invocation, world, isStdin(args[0]) && 'TOKEN');
  if (given.key === undefined) {
    const subject = { name: 'token verify' };
    throw new FilingsError('usage', 'no key: give --key FILE or --secret-file FILE', { subject });
  }
  const warn = (text: string) => printMessage('warning', text, flags, world);
  const key = await readJwtKey(given.key, 'verify', world, warn, given.passphraseFile);
  const token = await readTokenInput(args[0], world);
  // The time is read after the token, because a pipe may deliver that late.
  const time = { atSeconds: (at ?? world.now()) / 1000, leewaySeconds: leeway / 1000 };
  await verifyToken(token, [key], { algorithms, ...time }).catch((error) =>
    reportRefusal(error, json && { valid: false }, world),
  );
  const { header, claims } = printableParts(token);
  const text = json ? `{"valid":true,"header":${header},"claims":${claims}}` : claims;
  await write(world.stdout, `${text}\n`, world.interrupt);
  return 0;
}
