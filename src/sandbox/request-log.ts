import type { Secrets } from '../secrets.ts';
import { printable } from '../terminal/printable.ts';
import type { Asked } from './request.ts';

export interface Served {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Undefined: its target is malformed. */
  readonly asked: Asked | undefined;
  readonly traceId: string;
  readonly status: number;
  readonly note: string | undefined;
  /** False when the client went away, or the file could not be sent to its end. */
  readonly complete: boolean;
  readonly ms: number;
}

const LONGEST_VALUE = 300;

/**
 * A request as one line. Only what is known to be harmless is shown: the path without a key segment,
 * the two parameters of the contract, and by which way a key came, but nothing of its value.
 */
export function requestLine(served: Served, secrets: Secrets): string {
  // Redacted before it is cut: half a secret is one too.
  const show = (text: string) => printable(secrets.redact(text), LONGEST_VALUE);
  const { asked } = served;
  const parts = [new Date(served.at).toISOString(), served.method];
  parts.push(asked ? show(pathOf(asked)) : '(a malformed target)');
  for (const name of ['accession_no', 'file_name']) {
    for (const value of asked?.query.getAll(name) ?? []) parts.push(`${name}=${show(value)}`);
  }
  const ways = (asked?.keys ?? []).map((key) => key.way);
  parts.push(`key=${ways.join('+') || 'none'}`);
  if (asked?.tokens.length) parts.push('jwt');
  parts.push(`${served.status}`, `${Math.round(served.ms)}ms`);
  if (served.note !== undefined) parts.push(`${served.traceId}: ${show(served.note)}`);
  if (!served.complete) parts.push('(cut off)');
  return parts.join(' ');
}

function pathOf({ resource }: Asked): string {
  // A key segment elsewhere than at the end is a mistake, but still a key.
  return resource.replace(/APIKEY-[^/]*/gi, 'APIKEY-[redacted]');
}
