// Recognizes an error that a service sends with a 200 instead of the file (service.md, section 8). If it were saved
// under the name of the file, every later run would skip it. Problem details with their own media type do not get here:
// client.ts refuses them.
import type { HeaderFields } from '../http/head.ts';
import { isJsonObject, parseJson } from '../json.ts';

/**
 * A body that has not proved to be an error by then is the file. So is every larger JSON body, because only a small
 * object can be an error message (service.md, section 8).
 */
const MAX_TESTED_BYTES = 64 << 10;
/** A name with a folder may be HTML in spite of its extension: `xslF345X05/form4.xml` is `form4.xml`, rendered. */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
const HTML_START = /^<(?:!doctype html|html)/i;
/** A small JSON object with one of these is an error (service.md, section 8). */
const ERROR_MEMBERS = ['error', 'message'];
/** RFC 9457, section 3.1. A file may well have one of these members, so two are required. */
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

/** Returns undefined if more bytes are needed to tell. With `isWhole` they are the whole body. */
type ErrorTest = (start: Buffer, isWhole: boolean) => boolean | undefined;

export function mediaTypeOf(headers: HeaderFields): string {
  return `${headers['content-type'] ?? ''}`.replace(/;.*/s, '').trim().toLowerCase();
}

/** Returns undefined if no test could tell an error from the file. The body is then taken for the file. */
export function getErrorTest(fileName: string, type: string, length: number | undefined): ErrorTest | undefined {
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  // A body without a stated length may still turn out to be small. A `.json` file may itself have such members.
  const canBeMessage = (length ?? 0) <= MAX_TESTED_BYTES && !/\.json$/i.test(fileName);
  return type === 'application/json' && canBeMessage ? isErrorMessage : undefined;
}

function isHtml(start: Buffer, isWhole: boolean): boolean | undefined {
  const mayGrow = !isWhole && start.length <= MAX_TESTED_BYTES;
  // A body may begin with a lot of white space and arrive byte by byte. Searching all of it again for each byte would
  // take too long, so the decision waits as long as the last byte is white space.
  if (mayGrow && /^\s?$/.test(start.toString('latin1', start.length - 1))) return undefined;
  const text = start.toString().trimStart();
  if (HTML_START.test(text)) return true;
  return mayGrow && text.length < '<!doctype html'.length ? undefined : false;
}

function isErrorMessage(start: Buffer, isWhole: boolean): boolean | undefined {
  if (!isWhole && start.length <= MAX_TESTED_BYTES) return undefined;
  const body = start.length > MAX_TESTED_BYTES ? undefined : parseJson(start.toString().replace(/^\ufeff/, ''));
  if (!isJsonObject(body)) return false;
  // Some services write `Error` or `Message`.
  const members = new Set(Object.keys(body).map((name) => name.toLowerCase()));
  const count = (names: readonly string[]) => names.filter((name) => members.has(name)).length;
  return count(ERROR_MEMBERS) >= 1 || count(PROBLEM_MEMBERS) >= 2;
}
