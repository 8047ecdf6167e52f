import { STATUS_CODES } from 'node:http';
import type { Reply } from './reply.ts';

/** The three variants of contract part 2: `errors` makes the first, `traceId` tells the others apart in a log. */
export interface ProblemDetails {
  readonly detail: string;
  /** The path asked for, never the query: a key may ride there. */
  readonly instance?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId?: string;
}

const RFC = 'https://www.rfc-editor.org/rfc/rfc9110#section-';
const SECTIONS: Readonly<Record<number, string>> = {
  400: '15.5.1',
  401: '15.5.2',
  404: '15.5.5',
  405: '15.5.6',
  416: '15.5.17',
  421: '15.5.20',
  500: '15.6.1',
};

/** An answer in problem details (RFC 9457). */
export function problem(
  status: number,
  details: ProblemDetails,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const section = SECTIONS[status];
  const body = Buffer.from(
    JSON.stringify({
      type: section === undefined ? 'about:blank' : `${RFC}${section}`,
      title: details.errors === undefined ? STATUS_CODES[status] : 'One or more validation errors occurred.',
      status,
      ...details,
    }),
  );
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Content-Length': `${body.length}`,
      'Cache-Control': 'no-store',
      ...headers,
    },
    body,
    note: details.detail,
  };
}
