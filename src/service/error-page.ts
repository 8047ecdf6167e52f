// Recognizes an error that a service sends with a 200 instead of the file (service.md, section 8): a small JSON object
// with a message or with members of problem details, or an HTML page, such as a login page, under a name that is not
// HTML. Problem details with their own media type, application/problem+json, do not get here: client.ts refuses them.
// If such an error were saved under the name of the file, every later run would skip it as an existing file.
import { isJsonObject, parseJson } from '../json.ts';

/**
 * How much of a body is tested at most. A body that has not proved to be an error by then is the file. So is every
 * larger JSON body, because only a small object can be an error message (service.md, section 8).
 */
const MAX_TESTED_BYTES = 64 << 10;
/**
 * Names of files that are never HTML. A name with a folder does not match, because such a file may be an HTML page in
 * spite of its extension: `xslF345X05/form4.xml` is `form4.xml`, rendered as HTML.
 */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
/**
 * This pattern and the next one match bytes that were decoded as latin1, so `\xef\xbb\xbf` is the byte-order mark.
 * UTF-8 would not do, because the bytes that have arrived may end within the mark.
 */
const HTML_START = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;
/** Matches a body that may match `HTML_START` when more bytes have arrived. `!doctype html` has 13 characters. */
const MAY_BE_HTML = /^(?:\xef\xbb?$|(?:\xef\xbb\xbf)?\s*(?:<[!a-z ]{0,13})?$)/i;
/** A JSON object with one of these is an error, such as `{"error": "..."}` (service.md, section 8). */
const ERROR_MEMBERS = ['error', 'message'];
/**
 * Members of problem details (RFC 9457, section 3.1) that were sent as plain JSON. Two are required, because a file may
 * well have a `title`, too.
 */
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

/**
 * Returns whether a body that begins with the bytes `start` is an error, or undefined if more bytes are needed to tell:
 * it is then called again with a longer `start`. With `isWhole` they are the whole body, and the result is never
 * undefined.
 */
type ErrorTest = (start: Buffer, isWhole: boolean) => boolean | undefined;

/**
 * Returns the test for a body of this media type and length, or undefined if no test could tell an error from the file.
 * The body is then taken for the file.
 */
export function getErrorTest(fileName: string, contentType: string, length: number | undefined): ErrorTest | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  // A body without a stated length may still turn out to be small. A `.json` file may itself be an object with such
  // members.
  const canBeMessage = (length ?? 0) <= MAX_TESTED_BYTES && !/\.json$/i.test(fileName);
  return type === 'application/json' && canBeMessage ? isErrorMessage : undefined;
}

function isHtml(start: Buffer, isWhole: boolean): boolean | undefined {
  const mayGrow = !isWhole && start.length <= MAX_TESTED_BYTES;
  // A body may begin with a lot of white space, and may arrive byte by byte. Searching all of it again for each byte
  // would take too long. So the decision waits as long as the last byte is white space, or as there is no byte at all.
  if (mayGrow && /^\s?$/.test(start.toString('latin1', start.length - 1))) return undefined;
  const text = start.toString('latin1');
  if (HTML_START.test(text)) return true;
  return mayGrow && MAY_BE_HTML.test(text) ? undefined : false;
}

function isErrorMessage(start: Buffer, isWhole: boolean): boolean | undefined {
  if (!isWhole && start.length <= MAX_TESTED_BYTES) return undefined;
  // Without the byte-order mark, which `parseJson` would reject.
  const body = start.length > MAX_TESTED_BYTES ? undefined : parseJson(start.toString().replace(/^\ufeff/, ''));
  if (!isJsonObject(body)) return false;
  // Some services write `Error` or `Message`.
  const members = new Set(Object.keys(body).map((name) => name.toLowerCase()));
  const count = (names: readonly string[]) => names.filter((name) => members.has(name)).length;
  return count(ERROR_MEMBERS) >= 1 || count(PROBLEM_MEMBERS) >= 2;
}
