// Recognises an error that a service sends with a 200 in place of the file: a JSON message or a login page. Saved once,
// it would be skipped by every later run.
import { isJsonObject, parseJson } from '../json.ts';

/** The most that is read to tell. A longer JSON body is a file. */
const MAX_MESSAGE_BYTES = 64 << 10;
/** Files of these kinds are never HTML. A name with a folder names a rendering of the file, which may be HTML. */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
/** In bytes (latin1), because a chunk may end inside the byte-order mark. */
const HTML_START = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;
/** The start of a body that may still become `HTML_START` with more bytes. */
const MAY_BE_HTML = /^(?:\xef\xbb?$|(?:\xef\xbb\xbf)?\s*(?:<[!a-z ]{0,13})?$)/i;
const ERROR_MEMBERS = ['error', 'message'];
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

/** Tests the bytes at the beginning of a body. Returns undefined if more bytes are needed to tell. */
type ErrorTest = (start: Buffer, isWhole: boolean) => boolean | undefined;

/** Returns the test for a body of this media type and length, or undefined if it can only be the file. */
export function errorTestFor(fileName: string, contentType: string, length: number | undefined): ErrorTest | undefined {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  const canBeMessage = (length ?? 0) <= MAX_MESSAGE_BYTES && !/\.json$/i.test(fileName);
  return type === 'application/json' && canBeMessage ? isMessage : undefined;
}

function isHtml(start: Buffer, isWhole: boolean): boolean | undefined {
  const mayGrow = !isWhole && start.length <= MAX_MESSAGE_BYTES;
  // White space that comes byte by byte is not searched again and again.
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
