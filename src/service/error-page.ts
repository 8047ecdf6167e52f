// Recognizes an error that a service sends with a 200 instead of the file: a small JSON object with a message, or an
// HTML page such as a login page (service.md, section 8). If such an error were saved under the name of the file, every
// later run would skip it as the existing file.
import { isJsonObject, parseJson } from '../json.ts';

/** A longer JSON body is a file. Also the most bytes that are read before a body is taken for the file. */
const MAX_MESSAGE_BYTES = 64 << 10;
/** Names of files that are never HTML. A name with a folder may mean a rendering as HTML: `xslF345X05/form4.xml`. */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
/** For bytes as latin1, because the received bytes may end within the byte-order mark. */
const HTML_START = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;
/** Matches a body that may match `HTML_START` when more bytes have arrived. */
const MAY_BE_HTML = /^(?:\xef\xbb?$|(?:\xef\xbb\xbf)?\s*(?:<[!a-z ]{0,13})?$)/i;
const ERROR_MEMBERS = ['error', 'message'];
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

/** Returns whether a body that begins with these bytes is an error, or undefined if more bytes are needed to tell. */
type ErrorTest = (start: Buffer, isWhole: boolean) => boolean | undefined;

/** Returns the test for a body of this media type and length, or undefined if the body can only be the file. */
export function errorTestFor(fileName: string, contentType: string, length: number | undefined): ErrorTest | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  const canBeMessage = (length ?? 0) <= MAX_MESSAGE_BYTES && !/\.json$/i.test(fileName);
  return type === 'application/json' && canBeMessage ? isMessage : undefined;
}

function isHtml(start: Buffer, isWhole: boolean): boolean | undefined {
  const mayGrow = !isWhole && start.length <= MAX_MESSAGE_BYTES;
  // A body may begin with white space, and may arrive byte by byte. Then only its last byte is looked at each time.
  if (mayGrow && /^\s?$/.test(start.toString('latin1', start.length - 1))) return undefined;
  const text = start.toString('latin1');
  if (HTML_START.test(text)) return true;
  return mayGrow && MAY_BE_HTML.test(text) ? undefined : false;
}

function isMessage(start: Buffer, isWhole: boolean): boolean | undefined {
  if (!isWhole && start.length <= MAX_MESSAGE_BYTES) return undefined;
  const body = start.length > MAX_MESSAGE_BYTES ? undefined : parseJson(start.toString().replace(/^\ufeff/, ''));
  if (!isJsonObject(body)) return false;
  const members = new Set(Object.keys(body).map((name) => name.toLowerCase()));
  const count = (names: readonly string[]) => names.filter((name) => members.has(name)).length;
  return count(ERROR_MEMBERS) > 0 || count(PROBLEM_MEMBERS) > 1;
}
