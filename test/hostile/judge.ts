// Compares the results of curl and `filings` for the same exchange.
import type { CurlVerdict } from './by-curl.ts';
import type { OurVerdict } from './by-filings.ts';
import { curlRefusal, firmKindOf, kindOf, LAXER, ourRefusal, STRICTER } from './kinds.ts';
import type { Exchange } from './raw-answer.ts';

/**
 * The result of a comparison, by the name that is counted and that docs/guarantees.md uses. `fault` breaks the rule.
 */
export interface Judgement {
  readonly name: string;
  readonly fault?: string;
}

/** Codes of errors that a response or a connection may cause. Another code is a defect of the program. */
const CODES = ['integrity', 'temporary', 'rejected', 'not_found', 'auth'];

/**
 * The rule: an error for curl is no success here; a success here has the same bytes as curl; and a response that only
 * `filings` refuses is of a documented kind. A response of a kind that can be recognized with certainty is never
 * accepted.
 */
export function judge(exchange: Exchange, curl: CurlVerdict, ours: OurVerdict): Judgement {
  const fault = (why: string): Judgement => ({ name: 'fault', fault: why });
  if (ours.exit !== 0 && ours.bytes !== undefined) return fault('refused, and yet there is a file');
  if (ours.exit !== 0 && (!CODES.includes(ours.code) || /deadline/.test(ours.words))) {
    return fault(`refused as ${ourRefusal(ours)}`);
  }
  const firm = ours.bytes && firmKindOf(exchange, ours.bytes);
  if (firm) return fault(`taken, though it is of the kind "${firm}"`);
  if (curl.exit === 0 && ours.exit === 0) {
    if (ours.bytes && curl.bytes?.equals(ours.bytes)) return { name: 'same' };
    return fault(`${ours.bytes?.length} bytes here, ${curl.bytes?.length} of curl's, and they are not the same`);
  }
  if (curl.exit !== 0 && ours.exit !== 0) return { name: 'both refuse' };
  if (curl.exit !== 0) {
    const name = kindOf(LAXER, curlRefusal(curl), exchange);
    return name ? { name: `laxer: ${name}` } : fault(`taken here; for curl it is ${curlRefusal(curl)}`);
  }
  const name = kindOf(STRICTER, ourRefusal(ours), exchange, curl.bytes);
  return name
    ? { name: `stricter: ${name}` }
    : fault(`of no kind that is named: curl takes it; here ${ourRefusal(ours)}`);
}
