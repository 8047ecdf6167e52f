import type { Blow } from './process.ts';

/** How a file is sent. */
export interface FilePlan {
  readonly size: number;
  readonly framing: 'length' | 'chunked' | 'until-close';
  readonly validator: 'strong' | 'weak' | 'none';
  /** What becomes of the first requests for it, before those that become of any. */
  readonly faults: readonly Fault[];
}

/** What the service does to one request, in the order in which requests come. */
export interface Fault {
  readonly kind: (typeof FAULTS)[number];
  /** Where in the answer, of 1. */
  readonly at: number;
  /** Seconds. */
  readonly wait: number;
}

export const FAULTS = [
  'none',
  'fin',
  'reset',
  'unseen-reset',
  'stall',
  'drip',
  'slow',
  'unavailable',
  'wait-seconds',
  'wait-date',
  'not-found',
  'new-version',
  'range-of-another',
  'no-range',
  'wrong-range',
  'surplus',
  'redirect',
  'redirect-away',
  'close-idle',
] as const;

/** One run of the program. */
export interface RunPlan {
  /** A pipe takes one file; where there are no checksums, none are checked. */
  readonly does: 'download' | 'pipe' | 'verify' | 'prune';
  readonly blows: readonly Blow[];
  /** It starts so long after the wave, in milliseconds. */
  readonly startsAfter: number;
}

export interface Options {
  readonly jobs: number;
  readonly retries: number;
  readonly checksums: boolean;
  readonly done: boolean;
  readonly ratePerSecond: number | undefined;
  readonly maxRequests: number | undefined;
  readonly maxBytes: number | undefined;
  readonly deadlineSeconds: number | undefined;
}

/** The machine's own clock, against the service's. Milliseconds. */
export interface Clock {
  readonly ahead: number;
  /** It is set by so much, as a request has come or as its answer is half sent. */
  readonly jumps: readonly { readonly request: number; readonly isHalf: boolean; readonly by: number }[];
}

export interface Plan {
  readonly order: number;
  readonly lean: number;
  readonly filings: readonly (readonly FilePlan[])[];
  readonly listedSizes: boolean;
  /** How it answers whoever asks for the rest of a file; `unconditional`: of another version, whatever If-Range says. */
  readonly ranges: 'kept' | 'ignored' | 'wrong' | 'unconditional';
  readonly options: Options;
  readonly clock: Clock;
  readonly faults: readonly Fault[];
  readonly connects: readonly ('open' | 'refused' | 'no answer')[];
  /** Runs at once, then those that come after them; behind all one that nobody disturbs. */
  readonly waves: readonly (readonly RunPlan[])[];
  /** Whether the machine starts again before a wave, or the last run. */
  readonly reboots: readonly boolean[];
}
