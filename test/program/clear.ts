// Checks that no text contains a secret. A service may echo a secret in any encoding, so a search for the plain text
// would miss most leaks: the check looks for every form, for half of each, and in the decoded text.
import { expect } from 'vitest';

export const base64 = (text: string) => Buffer.from(text).toString('base64');
export const percent = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');
const json = (text: string) => JSON.stringify(text).slice(1, -1);
/** A secret in each encoding in which a service could echo it. */
export const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  json(secret),
  ...['', 'x', 'xx'].map((before) => base64(`${before}${secret}yyy`)),
  Buffer.from(secret).toString('base64url'),
  encodeURIComponent(encodeURIComponent(secret)),
  base64(`?next=${encodeURIComponent(secret)}`),
];

/** A long run of one character holds no secret. Decoding it in every way would take a second. */
const withoutRuns = (text: string) => text.replace(/(.)\1{99,}/g, '$1');
const percentDecoded = (text: string) =>
  text.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
const base64Runs = (text: string) =>
  (text.match(/[\w+/-]{8,}/g) ?? []).flatMap((run) =>
    [0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), 'base64').toString('latin1')),
  );

/**
 * Fails if a text contains a form of a secret or half of one, or if its decoded escapes and base64 contain a part of
 * it.
 */
export function expectClear(secrets: readonly string[], ...texts: (Buffer | string)[]): void {
  for (const text of texts.map(String).map(withoutRuns)) {
    const once = percentDecoded(text);
    const thrice = percentDecoded(percentDecoded(once));
    const runs = [...base64Runs(text), ...base64Runs(once)];
    const decodedRuns = [...runs, ...runs.map(percentDecoded)];
    for (const secret of secrets) {
      for (const form of formsOf(secret)) expect(text).not.toContain(form);
      const half = secret.slice(0, Math.ceil(secret.length / 2));
      for (const plain of [text, once, thrice]) expect(plain).not.toContain(half);
      for (const run of decodedRuns) expect(run).not.toContain(secret.slice(0, 6));
    }
  }
}
