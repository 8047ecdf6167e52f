// Recognizes what people paste in place of a bare token: a header line, a token in quotes, the response of a token
// endpoint. Sent as it is, each would be rejected by the service, or would give a refresh token away.
import { isJsonObject, parseJson } from '../json.ts';

const BARE = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** The usual names of a token in the response of an endpoint, the best first. */
const MEMBERS = ['access_token', 'token', 'id_token', 'jwt', 'accessToken'];
const EXTRACT = `grep -oE '[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){2}'`;

const WRAPPINGS: readonly (readonly [form: RegExp, reason: string])[] = [
  [/^["'].*["']$/s, 'is in quotes'],
  [/^bearer\s/i, "begins with 'Bearer', which is not a part of it"],
  [/^[\w-]+:\s/, 'is a whole header line, and not the token alone'],
];

interface TokenFault {
  /** What was seen, as the end of a sentence. */
  readonly reason: string;
  /** A command that reads the text and writes the bare token. */
  readonly filter: string;
}

/** Returns what else the text is, or undefined if it has the three parts of a token and nothing else. */
export function findTokenFault(text: string): TokenFault | undefined {
  if (BARE.test(text)) return undefined;
  const reason = 'is not a JWT: three parts of base64url with dots between them';
  return findWrapping(text) ?? { reason, filter: EXTRACT };
}

/** Returns what stands around the token, or undefined if the text is no token in one of the usual wrappings. */
export function findWrapping(text: string): TokenFault | undefined {
  const trimmed = text.trim();
  const json = parseJson(trimmed);
  if (isJsonObject(json)) {
    const member = MEMBERS.find((name) => name in json) ?? 'access_token';
    return { reason: 'is JSON, as a token endpoint sends it, and not the token alone', filter: `jq -r .${member}` };
  }
  const found = WRAPPINGS.find(([form]) => form.test(trimmed));
  return found && { reason: found[1], filter: EXTRACT };
}
