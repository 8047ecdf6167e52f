import type { Connections } from '../http/connections.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Secrets } from '../secrets.ts';
import type { Credentials } from './credentials.ts';

/** Counts what goes over the wire. */
export interface Meter {
  /** A request is about to go out: a listing, a file, a further try, a redirect. */
  request(): void;
  /** So many bytes of a listing or an error came. */
  came(bytes: number): void;
}

export interface ClientOptions {
  /** Ends in a slash, and not in `/v1/`. */
  readonly baseUrl: URL;
  readonly credentials: Credentials;
  readonly connections: Connections;
  readonly retry: RetryPolicy;
  readonly userAgent: string;
  /** Milliseconds. */
  readonly idleTimeout: number;
  readonly monotonic: () => number;
  readonly secrets: Secrets;
  /** Told each request and answer, where anybody wants to know. What the service says in it may hold secrets: the teller redacts. */
  readonly trace: ((line: string) => void) | undefined;
  readonly meter?: Meter | undefined;
  /** A command of this program as a hint shows it: so that it asks the same service as this run. */
  readonly again: (command: string) => string;
}
