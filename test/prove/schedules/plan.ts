import fc from 'fast-check';
import type { Blow } from './process.ts';

/** How a file is sent. */
export interface FilePlan {
  readonly size: number;
  readonly framing: 'length' | 'chunked' | 'until-close';
  readonly validator: 'strong' | 'weak' | 'none';
}

/** What the service does to one request, in the order in which requests come. */
export interface Fault {
  readonly kind: (typeof FAULTS)[number];
  /** Where in the answer, of 1. */
  readonly at: number;
  /** Seconds. */
  readonly wait: number;
}

const FAULTS = [
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
  'close-idle',
] as const;

/** One run of the program. */
export interface RunPlan {
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

export interface Plan {
  readonly order: number;
  readonly lean: number;
  readonly filings: readonly (readonly FilePlan[])[];
  readonly listedSizes: boolean;
  /** How it answers whoever asks for the rest of a file; `unconditional`: of another version, whatever If-Range says. */
  readonly ranges: 'kept' | 'ignored' | 'wrong' | 'unconditional';
  readonly options: Options;
  readonly faults: readonly Fault[];
  readonly connects: readonly ('open' | 'refused' | 'no answer')[];
  /** Runs at once, then those that come after them; behind all one that nobody disturbs. */
  readonly waves: readonly (readonly RunPlan[])[];
}

const file: fc.Arbitrary<FilePlan> = fc.record({
  size: fc.oneof(
    { arbitrary: fc.constantFrom(0, 1, 10), weight: 2 },
    { arbitrary: fc.integer({ min: 100, max: 9000 }), weight: 5 },
    { arbitrary: fc.constantFrom(70_000, 200_000), weight: 1 },
    { arbitrary: fc.constant(1_100_000), weight: 1 },
  ),
  framing: fc.constantFrom('length', 'length', 'chunked', 'chunked', 'until-close'),
  validator: fc.constantFrom('strong', 'strong', 'strong', 'weak', 'none'),
});

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constant('none' as const), weight: 3 },
    { arbitrary: fc.constantFrom(...FAULTS), weight: 3 },
    // What a resume takes: a cut, and then an answer that does not fit.
    { arbitrary: fc.constantFrom('reset', 'fin', 'range-of-another', 'wrong-range', 'new-version'), weight: 2 },
  ),
  at: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
  wait: fc.oneof({ arbitrary: fc.integer({ min: 0, max: 30 }), weight: 9 }, { arbitrary: fc.constant(400), weight: 1 }),
});

const blow: fc.Arbitrary<Blow> = fc.record({
  kind: fc.constantFrom('kill', 'kill', 'kill', 'interrupt', 'full-disk', 'bad-flush'),
  atStep: fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 400 }), weight: 3 },
    { arbitrary: fc.integer({ min: 1, max: 60 }), weight: 1 },
  ),
});

const run: fc.Arbitrary<RunPlan> = fc.record({
  blows: fc.array(blow, { maxLength: 2 }),
  startsAfter: fc.constantFrom(0, 0, 0, 1, 50, 3000),
});

const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary, weight: 1 });

const options: fc.Arbitrary<Options> = fc.record({
  jobs: fc.integer({ min: 1, max: 5 }),
  retries: fc.constantFrom(0, 1, 5),
  checksums: fc.boolean(),
  done: fc.boolean(),
  ratePerSecond: sometimes(fc.constantFrom(1, 4, 10)),
  maxRequests: sometimes(fc.integer({ min: 1, max: 12 })),
  maxBytes: sometimes(fc.constantFrom(500, 5000, 100_000, 1_500_000)),
  deadlineSeconds: sometimes(fc.constantFrom(1, 20, 100)),
});

/** Any schedule: who fetches what, what befalls whom, and in which order things happen. */
export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  order: fc.noShrink(fc.nat()),
  lean: fc.constantFrom(0.3, 1, 1, 3),
  filings: fc.array(fc.array(file, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  listedSizes: fc.boolean(),
  ranges: fc.constantFrom('kept', 'kept', 'kept', 'ignored', 'wrong', 'unconditional'),
  options,
  faults: fc.array(fault, { maxLength: 25 }),
  connects: fc.array(fc.constantFrom('open', 'open', 'open', 'refused', 'no answer'), { maxLength: 6 }),
  waves: fc.array(fc.array(run, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
});
