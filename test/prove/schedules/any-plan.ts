import fc from 'fast-check';
import { type Clock, FAULTS, type Fault, type FilePlan, type Options, type Plan, type RunPlan } from './plan.ts';
import type { Blow } from './process.ts';

/** Where in an answer, of 1. */
const place = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);

const fault: fc.Arbitrary<Fault> = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constant('none' as const), weight: 3 },
    { arbitrary: fc.constantFrom(...FAULTS), weight: 5 },
  ),
  at: place,
  wait: fc.oneof({ arbitrary: fc.integer({ min: 0, max: 30 }), weight: 9 }, { arbitrary: fc.constant(400), weight: 1 }),
});

/** What a resume takes: a body that is broken off, and then an answer to whoever asks for its rest, which may not fit. */
const brokenOff: fc.Arbitrary<readonly Fault[]> = fc
  .tuple(
    fc.constantFrom('reset', 'fin', 'unseen-reset', 'stall'),
    fc.constantFrom('none', 'reset', 'range-of-another', 'wrong-range', 'new-version', 'no-range'),
    place,
  )
  .map(([cut, then, at]) => [
    { kind: cut, at: 0.2 + at * 0.8, wait: 0 },
    { kind: then, at, wait: 0 },
  ]);

const file: fc.Arbitrary<FilePlan> = fc.record({
  size: fc.oneof(
    { arbitrary: fc.constantFrom(0, 1, 10), weight: 2 },
    { arbitrary: fc.integer({ min: 100, max: 9000 }), weight: 5 },
    { arbitrary: fc.constantFrom(70_000, 200_000), weight: 1 },
    { arbitrary: fc.constant(1_100_000), weight: 1 },
  ),
  framing: fc.constantFrom('length', 'length', 'chunked', 'chunked', 'until-close'),
  validator: fc.constantFrom('strong', 'strong', 'strong', 'weak', 'none'),
  faults: fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, { arbitrary: brokenOff, weight: 1 }),
});

const blow: fc.Arbitrary<Blow> = fc.record({
  kind: fc.constantFrom('kill', 'kill', 'kill', 'interrupt', 'full-disk', 'bad-flush'),
  atStep: fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 400 }), weight: 3 },
    { arbitrary: fc.integer({ min: 1, max: 60 }), weight: 1 },
  ),
});

const run: fc.Arbitrary<RunPlan> = fc.record({
  does: fc.constantFrom('download', 'download', 'download', 'download', 'pipe', 'verify', 'prune'),
  blows: fc.array(blow, { maxLength: 2 }),
  startsAfter: fc.constantFrom(0, 0, 0, 1, 50, 3000),
});

/** A list is rewritten while others append to it. */
const rewritten = fc.tuple(run, run).map(([one, other]) => [
  { ...one, does: 'download' as const },
  { ...other, does: 'prune' as const, blows: [] },
]);

const wave: fc.Arbitrary<readonly RunPlan[]> = fc.oneof(
  { arbitrary: fc.array(run, { minLength: 1, maxLength: 2 }), weight: 6 },
  { arbitrary: rewritten, weight: 1 },
);

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

/** Of a right one the half minute is not asked; a wrong one is off by far more. */
const off = fc.constantFrom(-72, -1, 1, 72).map((hours) => hours * 3_600_000);

const clock: fc.Arbitrary<Clock> = fc.record({
  ahead: fc.oneof({ arbitrary: fc.constant(0), weight: 3 }, { arbitrary: off, weight: 1 }),
  jumps: fc.oneof(
    { arbitrary: fc.constant([]), weight: 2 },
    {
      arbitrary: fc.array(fc.record({ request: fc.nat({ max: 20 }), isHalf: fc.boolean(), by: off }), { maxLength: 3 }),
      weight: 1,
    },
  ),
});

/** Any schedule: who fetches what, what befalls whom, and in which order things happen. */
export const anyPlan: fc.Arbitrary<Plan> = fc.record({
  order: fc.noShrink(fc.nat()),
  lean: fc.constantFrom(0.3, 1, 1, 3),
  filings: fc.array(fc.array(file, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
  listedSizes: fc.boolean(),
  ranges: fc.constantFrom('kept', 'kept', 'kept', 'ignored', 'wrong', 'unconditional'),
  options,
  clock,
  faults: fc.array(fault, { maxLength: 25 }),
  connects: fc.array(fc.constantFrom('open', 'open', 'open', 'refused', 'no answer'), { maxLength: 6 }),
  reboots: fc.array(fc.constantFrom(false, false, false, true), { maxLength: 4 }),
  waves: fc.array(wave, { minLength: 1, maxLength: 3 }),
});
