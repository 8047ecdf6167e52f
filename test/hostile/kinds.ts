// The kinds of responses that curl and `filings` treat differently. Each difference that the search finds must be of
// one of these kinds (docs/guarantees.md).
import type { CurlVerdict } from './by-curl.ts';
import type { OurVerdict } from './by-filings.ts';
import { type Exchange, type RawAnswer, wholeText } from './raw-answer.ts';

/** A response as it was sent: its bytes as latin1, without the part that was cut off. */
interface SentResponse {
  readonly answer: RawAnswer;
  readonly text: string;
  /** The head with those of interim responses, or the whole text if the head has no end. */
  readonly head: string;
  /** The head without those of interim responses. */
  readonly final: string;
  /** The bytes that were accepted as the file. */
  readonly bytes: string;
}

/** A kind of response that curl and `filings` treat differently. */
interface Kind {
  readonly name: string;
  /** Matches the code and message of the program that refuses. */
  readonly refusal: RegExp;
  /** True if a response is of this kind. */
  readonly of: (sent: SentResponse) => boolean;
  /** Recognizes responses that must always be refused: `of` itself, or a narrower test that is always certain. */
  readonly firm?: true | ((sent: SentResponse) => boolean);
}

const inHead = (pattern: RegExp) => (sent: SentResponse) => pattern.test(sent.head);
const chunked = ({ answer }: SentResponse) => answer.framing.chunks !== undefined || answer.framing.codings.length > 0;
const status = ({ answer }: Pick<SentResponse, 'answer'>) => /^HTTP\/1\.[01] (\d{3})/.exec(answer.start)?.[1] ?? '';
const inFinal = (pattern: RegExp) => (sent: SentResponse) => pattern.test(sent.final);
const lengths = ({ final }: Pick<SentResponse, 'final'>) =>
  [...final.matchAll(/^content-length:(.*)/gim)].map(([, value = '']) => value.trim());

/** Returns whether the body has no length and ends when the connection is closed. */
function isUntilClose({ final }: SentResponse): boolean {
  return !/^(content-length|transfer-encoding):/im.test(final);
}

/**
 * True if the head is not lines of `name: value` with CRLF, or has two lengths, a length with a coding, or a length
 * that is not a number.
 */
function isOddHead(head: string): boolean {
  return head.split('\r\n\r\n').some((one) => one !== '' && isOdd(one.split('\r\n')));
}

function isOdd([start = '', ...lines]: readonly string[]): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the control characters are intended.
  const field = /^[\w!#$%&'*+.^`|~-]+:[^\0-\x08\x0a-\x1f\x7f]*$/;
  const framing = lines.filter((line) => /^(content-length|transfer-encoding)\s*:/i.test(line));
  const status = /^HTTP\/1\.[01] \d{3}( [\t\x20-\x7e\x80-\xff]*)?$/;
  return lines.some((line) => !field.test(line)) || framing.length > 1 || !status.test(start) || !isLength(framing);
}

function isLength([line = 'content-length: 0']: readonly string[]): boolean {
  return !/^content-length/i.test(line) || /^content-length:[ \t]*\d{1,15} *$/i.test(line);
}

/** Kinds that `filings` refuses and curl accepts. */
export const STRICTER: readonly Kind[] = [
  {
    name: 'head cut off',
    refusal: /^temporary: .*the connection was closed before an answer came/,
    of: ({ text, head }) => text.endsWith(head) && !head.endsWith('\r\n\r\n'),
  },
  {
    name: 'last chunk cut off',
    refusal: /^integrity: .*truncated: the connection ended after \d+ bytes/,
    of: (sent) => chunked(sent) && !/\r\n\r\n$/.test(sent.text),
  },
  {
    name: 'no length over TLS',
    refusal: /^integrity: .*came over TLS without a length/,
    of: isUntilClose,
  },
  {
    name: 'reset',
    refusal:
      /^(temporary|integrity): .*(the connection was closed before an answer came|truncated: the connection ended)/,
    of: ({ answer }) => answer.ending === 'RST',
  },
  { name: 'empty', refusal: /^integrity: .*empty response without a length/, of: ({ bytes }) => bytes === '' },
  {
    name: 'broken head',
    refusal: /not sound HTTP: (its head is broken|a control character in its status line|its status line does not end)/,
    of: (sent) => isOddHead(sent.head),
  },
  { name: 'long head', refusal: /not sound HTTP: more than 16 KiB of header/, of: ({ head }) => head.length > 16_000 },
  {
    name: 'beginning',
    refusal: /not sound HTTP: it does not begin with HTTP/,
    of: (sent) => /(^|\r\n\r\n)(?!HTTP\/1\.[01] [1-9]\d\d|$)/.test(sent.head) || isOddHead(sent.head),
    firm: inHead(/^(?!HTTP\/)|(^|\n)HTTP\/(?!1\.[01] [1-9]\d\d)/),
  },
  {
    name: 'switch',
    refusal: /not sound HTTP: it switches to another protocol/,
    of: inHead(/^HTTP\/1\.[01] 101/m),
    firm: true,
  },
  {
    name: 'length',
    refusal: /not sound HTTP: (the length .* is not a number|both a length and)/,
    of: (sent) => lengths(sent).length > 0,
  },
  {
    name: 'transfer coding',
    refusal: /not sound HTTP: the transfer coding .* is not known/,
    of: inFinal(/^transfer-encoding:(?![ \t]*chunked\r)|(^transfer-encoding:[\s\S]*){2}/im),
    firm: inFinal(/^transfer-encoding:(?![ \t]*chunked[ \t]*\r)|(^transfer-encoding:[\s\S]*){2}/im),
  },
  {
    name: 'a part as the whole',
    refusal: /^integrity: .*200 with Content-Range/,
    of: inFinal(/^content-range:/im),
    firm: true,
  },
  { name: 'broken body', refusal: /not sound HTTP: (its body is broken|more than 16 KiB of header)/, of: chunked },
  {
    name: 'status',
    refusal: /^(rejected|integrity): .*: [23]\d\d\b/,
    of: (sent) => /^(2(?!00)|3)/.test(status(sent)),
    firm: true,
  },
  {
    name: 'redirect',
    refusal: /^integrity: .*redirect.* is not followed/,
    of: (sent) => /^30[12378]/.test(status(sent)),
  },
  {
    name: 'content coding',
    refusal: /^integrity: .*the content coding/,
    of: inFinal(/^content-encoding:(?![ \t]*(identity)?[ \t]*\r)/im),
    firm: true,
  },
  { name: 'problem', refusal: /^\w+: .*/, of: inFinal(/^content-type: application\/problem\+json/im), firm: true },
];

/** Kinds that curl refuses and `filings` accepts. */
export const LAXER: readonly Kind[] = [
  {
    name: 'zeros before a chunk size',
    refusal: /^56 at \d+: Too long hexadecimal number/,
    of: ({ text }) => /^0{10}[0-9a-f]{7,}[\r;]/im.test(text),
  },
  {
    name: 'reset',
    refusal: /^56 at \d+: .*(Connection reset by peer|Broken pipe)/,
    of: ({ answer, final }) =>
      answer.ending === 'RST' && answer.cut === 0 && /^(content-length|transfer-encoding):/im.test(final),
  },
  {
    name: 'body of a redirect',
    refusal: /^(18|56) at 30[12378]: /,
    of: (sent) => /^30[12378]/.test(status(sent)) && /^location: \//im.test(sent.final),
  },
];

/** Returns the name of the kind of a difference, or undefined if no kind matches. */
export function kindOf(
  kinds: readonly Kind[],
  refusal: string,
  exchange: Exchange,
  bytes?: Buffer,
): string | undefined {
  const all = exchange.map((answer) => sent(answer, bytes));
  return kinds.find((kind) => kind.refusal.test(refusal) && all.some(kind.of))?.name;
}

/** Returns the kind of an accepted response that must always be refused. */
export function firmKindOf([answer, ...others]: Exchange, taken: Buffer): string | undefined {
  // After an interim response, the final one is in the text that is the body here.
  if (!answer || others.length > 0 || /^1(?!01)/.test(status({ answer }))) return undefined;
  const one = sent(answer, taken);
  return STRICTER.find(({ of, firm }) => (firm === true ? of(one) : firm?.(one)))?.name;
}

export const ourRefusal = ({ code, words }: OurVerdict) => `${code}: ${words}`;
export const curlRefusal = ({ exit, status, words }: CurlVerdict) => `${exit} at ${status}: ${words}`;

function sent(answer: RawAnswer, bytes: Buffer | undefined): SentResponse {
  const all = wholeText(answer, '/path');
  const text = all.slice(0, Math.max(0, all.length - answer.cut));
  // The final head begins after the interim ones. A fault may be in any of them.
  const begin = text.startsWith(answer.interim.join('')) ? answer.interim.join('').length : 0;
  const end = text.indexOf('\r\n\r\n', begin);
  const head = end < 0 ? text : text.slice(0, end + 4);
  return { answer, text, head, final: head.slice(begin), bytes: bytes?.toString('latin1') ?? '' };
}
