import type { Body } from './body.ts';

/** Header fields by lower-case name; a field that came several times is an array. */
export type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

export interface GetRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly idleTimeout: number;
  readonly signal: AbortSignal;
  readonly monotonic: () => number;
  /** Waited for before each request goes out; what it throws keeps it from going. */
  readonly onSend?: () => Promise<void>;
}

/** The head of an answer, with its body still to be taken. */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderFields;
  /** What Content-Length declares; undefined when the body is chunked or ends with the connection. */
  readonly length: number | undefined;
  /** Neither a length nor chunked: only the end of the connection ends the body. */
  readonly untilClose: boolean;
  readonly body: Body;
  /** Drops the connection when the body was not taken to its end. */
  discard(): void;
}
