import { FilingsError } from '../../errors.ts';
import type { FurtherClaim } from '../../jwt/sign.ts';
import { structureFault } from '../../jwt/strict-token.ts';

/** The claims that the program sets itself, and what sets them. */
const DATES: Readonly<Record<string, string>> = {
  iat: 'it is always now',
  nbf: 'use --not-before',
  exp: 'use --lifetime',
};

/**
 * Reads `NAME=VALUE` (a string) and `NAME=JSON` claims.
 *
 * @param taken names that have a value already (`sub`, `name`), each with the flag that gave it
 * @throws FilingsError `usage`: not of that form, not JSON, a date, or the same claim twice
 */
export function readFurtherClaims(
  strings: readonly string[],
  jsons: readonly string[],
  taken: Readonly<Record<string, string | undefined>>,
): readonly FurtherClaim[] {
  const claims = [
    ...strings.map((text) => named(text, '--claim', (value) => JSON.stringify(value))),
    ...jsons.map((text) => named(text, '--claim-json', checkedJson)),
  ];
  const seen = new Set<string>();
  for (const [name, , flag] of claims) {
    const what = `${flag} ${name}`;
    if (Object.hasOwn(DATES, name))
      throw new FilingsError('usage', `${what}: the program sets it`, { hint: DATES[name] as string });
    const other = Object.hasOwn(taken, name) ? taken[name] : undefined;
    if (other !== undefined) throw new FilingsError('usage', `${what}: ${other} sets that claim already`);
    if (seen.has(name)) throw new FilingsError('usage', `${what}: the claim is given twice`);
    seen.add(name);
  }
  return claims.map(([name, json]) => [name, json]);
}

type Named = readonly [name: string, json: string, flag: string];

function named(text: string, flag: string, toJson: (value: string, what: string) => string): Named {
  const at = text.indexOf('=');
  if (at <= 0) throw new FilingsError('usage', `${flag} ${text}: it must be NAME=VALUE`);
  const name = text.slice(0, at);
  return [name, toJson(text.slice(at + 1), `${flag} ${name}`), flag];
}

function checkedJson(json: string, what: string): string {
  try {
    JSON.parse(json);
  } catch (cause) {
    const hint = 'a string needs its quotes, such as \'"text"\'; --claim takes text as it is';
    throw new FilingsError('usage', `${what}: the value is not JSON`, { hint, cause });
  }
  const fault = structureFault(json);
  if (fault === undefined) return json.trim();
  throw new FilingsError('usage', `${what}: the value ${fault}`);
}
