import type { Filed } from './archive.ts';
import type { Fault } from './plan.ts';
import type { Process } from './process.ts';

/** One request, as the service saw it. */
export interface Asked {
  readonly process: Process;
  readonly at: number;
  readonly accession: string;
  /** Undefined: its listing. */
  readonly file: Filed | undefined;
  readonly fault: Fault['kind'];
  /** Another host than the service's own. */
  readonly isAway: boolean;
  readonly hasKey: boolean;
  /** The version that was to be sent. */
  readonly version: number;
  status: number;
  /** When the last byte was taken; undefined: never, it was cut, or nobody took it. */
  wholeAt: number | undefined;
  /** Bytes of the body, as it should be. */
  bodyBytes: number;
  /** Nobody is to ask before this time, once the answer has come. */
  readonly until: number | undefined;
}

/** The request line and the fields of a head, with names in lower case. */
export function readHead(head: string): { readonly path: URL; readonly fields: ReadonlyMap<string, string> } {
  const [first = '', ...lines] = head.split('\r\n');
  const fields = lines.map(
    (line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const,
  );
  return { path: new URL(first.split(' ')[1] ?? '', 'http://service'), fields: new Map(fields) };
}
