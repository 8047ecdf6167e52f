import type { CurlVerdict } from './by-curl.ts';
import type { OurVerdict } from './by-filings.ts';
import { curlRefusal, firmKindOf, kindOf, LAXER, ourRefusal, STRICTER } from './kinds.ts';
import type { Exchange } from './raw-answer.ts';

/** What comes of comparing, as it is counted, and as the documents call it; `fault` breaks the rule. */
export interface Judgement {
  readonly name: string;
  readonly fault?: string;
}

/** The codes that a refused answer may have: it is the answer's fault, or the connection's, never the program's. */
const CODES = ['integrity', 'temporary', 'rejected', 'not_found', 'auth'];

/**
 * The rule: what curl calls an error is no success here, what is a success here has curl's bytes, and where we alone
 * refuse, the documents name the kind, and no answer of that kind is ever taken, as far as that can be told for certain.
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
