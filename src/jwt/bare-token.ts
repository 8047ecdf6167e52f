// Recognizes what people paste or save instead of a bare token. The service would reject it, and the JSON of a token
// endpoint may hold a refresh token, which must not be sent.
import { isJsonObject, parseJson } from '../json.ts';

const BARE_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** The middle of a token. */
const TOKEN = /[\w-]\.[\w-]+\.[\w-]/;
/** RFC 6749, section 5.1, and what else token endpoints use. The most likely name comes first. */
const TOKEN_MEMBERS = ['access_token', 'token', 'id_token', 'jwt', 'accessToken'];
const EXTRACT = `grep -oE '[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){2}'`;

const WRAPPINGS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^["'].*["']$/s, 'is in quotes'],
  [/^bearer\s/i, "begins with 'Bearer', which is not part of the token"],
  [/^[\w-]+:\s/, 'is a whole header line, and not just the token'],
];

interface TokenFault {
  /** The end of a sentence whose subject is the text. */
  readonly reason: string;
  /** A shell command that reads the text from stdin and prints the bare token. Empty if the text has none. */
  readonly filter: string;
}

/** For a token that is to be sent to the service. Its parts are not decoded. */
export function findTokenFault(text: string): TokenFault | undefined {
  if (BARE_TOKEN.test(text)) return undefined;
  const reason = 'is not a JWT, which has three base64url parts separated by dots';
  const fault = findWrapping(text) ?? { reason, filter: EXTRACT };
  return TOKEN.test(text) ? fault : { ...fault, filter: '' };
}

/** token.ts calls this and not `findTokenFault`, because its own errors about a malformed token are more precise. */
export function findWrapping(text: string): TokenFault | undefined {
  const trimmed = text.trim();
  const json = parseJson(trimmed);
  if (isJsonObject(json)) {
    const member = TOKEN_MEMBERS.find((name) => name in json) ?? 'access_token';
    return { reason: 'is JSON, such as a token endpoint sends, and not just the token', filter: `jq -r .${member}` };
  }
  const wrapping = WRAPPINGS.find(([pattern]) => pattern.test(trimmed));
  return wrapping && { reason: wrapping[1], filter: EXTRACT };
}
