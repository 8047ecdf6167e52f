// Recognizes an error that a service sends with a 200 instead of the file (docs/service.md, section 8). If it were
// saved under the name of the file, every later run would skip it. Problem details with their own media type do not get
// here: client.ts refuses them.
import type { HeaderFields } from '../http/head.ts';
import { isJsonObject, parseJson } from '../json.ts';

/** A larger JSON body is the file, because only a small object can be an error message (docs/service.md, section 8). */
export const MAX_TESTED_BYTES = 64 << 10;
/** A name with a folder may be HTML in spite of its extension: `xslF345X05/form4.xml` is `form4.xml`, rendered. */
const NEVER_HTML = /^[^/]*\.(?:pdf|zip|xlsx|xml|xsd|json|jpg|gif|png)$/i;
/** A small JSON object with one of these is an error (docs/service.md, section 8). */
const ERROR_MEMBERS = ['error', 'message'];
/** RFC 9457, section 3.1. A file may well have one of these members, so two are required. */
const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail'];

export function mediaTypeOf(headers: HeaderFields): string {
  return `${headers['content-type'] ?? ''}`.replace(/;.*/s, '').trim().toLowerCase();
}

/**
 * The test takes the whole body, or more than MAX_TESTED_BYTES of it. Returns undefined if none could find an error.
 */
export function getErrorTest(fileName: string, type: string): ((start: Buffer) => boolean) | undefined {
  if (type === 'text/html' && NEVER_HTML.test(fileName)) return isHtml;
  // A `.json` file may itself have such members.
  return type === 'application/json' && !/\.json$/i.test(fileName) ? isErrorMessage : undefined;
}

function isHtml(start: Buffer): boolean {
  // `trimStart` also removes a byte-order mark.
  return /^<(?:!doctype html|html)/i.test(start.toString().trimStart());
}

function isErrorMessage(start: Buffer): boolean {
  const body = start.length > MAX_TESTED_BYTES ? undefined : parseJson(start.toString().replace(/^\ufeff/, ''));
  if (!isJsonObject(body)) return false;
  // Some services write `Error` or `Message`.
  const members = new Set(Object.keys(body).map((name) => name.toLowerCase()));
  const count = (names: readonly string[]) => names.filter((name) => members.has(name)).length;
  return count(ERROR_MEMBERS) >= 1 || count(PROBLEM_MEMBERS) >= 2;
}
