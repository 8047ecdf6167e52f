import { laxDate } from '../../http/date.ts';

/** What tells one state of a file from another. */
export interface Validators {
  /** Strong, quoted. */
  readonly etag: string;
  /** As the Last-Modified header says it; undefined when the file's time is in the future. */
  readonly lastModified: string | undefined;
}

export interface ConditionalHeaders {
  readonly 'if-none-match'?: string | undefined;
  readonly 'if-modified-since'?: string | undefined;
  readonly 'if-range'?: string | undefined;
}

/** Whether 304 is the answer: weak comparison, and the date counts only without an ETag (RFC 9110 section 13.2.2). */
export function isNotModified(headers: ConditionalHeaders, { etag, lastModified }: Validators): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) {
    if (tags.trim() === '*') return true;
    return (tags.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => tag.replace(/^W\//, '') === etag);
  }
  const since = laxDate(headers['if-modified-since'] ?? '');
  return lastModified !== undefined && Date.parse(lastModified) <= since;
}

/**
 * Whether a Range still means this state of the file: strong comparison (RFC 9110 section 13.1.5).
 * A date is strong once its second is over, since the file may change again within it (section 8.8.2.2).
 * `now`: milliseconds since the epoch.
 */
export function allowsRange(headers: ConditionalHeaders, { etag, lastModified }: Validators, now: number): boolean {
  const condition = headers['if-range'];
  if (condition === undefined || condition === etag) return true;
  return condition === lastModified && now - Date.parse(condition) >= 1000;
}
