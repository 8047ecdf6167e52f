import { FilingsError } from '../../errors.ts';
import { write } from '../../stdio/output.ts';
import { printableJson, printableJsonSource } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

/** With `--json`, first prints why a token was refused to stdout. `json` has the other members of that object. */
export async function reportRefusal(error: unknown, json: object | false, world: World): Promise<never> {
  if (json && error instanceof FilingsError && error.subcode) {
    const { subcode: failed_check, reason } = error;
    await write(world.stdout, `${printableJson({ ...json, failed_check, reason })}\n`, world.interrupt);
  }
  throw error;
}

/**
 * Returns the JSON text that is in the token: parsing it and printing it again would change numbers that JavaScript
 * cannot represent. Use it only for a token that has been signed, verified or inspected.
 */
export function printableParts(token: string): { readonly header: string; readonly claims: string } {
  const [header = '', claims = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  return { header: printableJsonSource(header), claims: printableJsonSource(claims) };
}
