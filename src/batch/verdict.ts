import { type ErrorCode, FilingsError } from '../errors.ts';
import { counted } from '../text.ts';

/** This many in a row that could not even connect: the service is not there. */
const UNREACHABLE_LIMIT = 10;
/** This many 403 in a row: not about one file any more. */
const FORBIDDEN_LIMIT = 20;

type Thing = 'file' | 'filing';

/** Tells when a run over several things is not worth continuing: the next would fail, too. */
export class StopRule {
  readonly #thing: Thing;
  readonly #again: (command: string) => string;
  #unreachable = 0;
  #forbidden = 0;

  /** `again` words a command of this program so that it asks the same service. */
  constructor(thing: Thing, again: (command: string) => string) {
    this.#thing = thing;
    this.#again = again;
  }

  /** Takes how the next one ended, and gives what stops the run, if anything does. */
  after(error: FilingsError | undefined): FilingsError | undefined {
    this.#unreachable = error?.connected === false ? this.#unreachable + 1 : 0;
    this.#forbidden = error?.problem?.status === 403 ? this.#forbidden + 1 : 0;
    if (error === undefined || error.stopsRun) return error;
    const stop = { cause: error, stopsRun: true };
    if (this.#forbidden >= FORBIDDEN_LIMIT) {
      const hint = `some services say "slow down" so: wait, and add --rate 1/s; or check the key: ${this.#again('filings config check')}`;
      return new FilingsError('auth', `403 for ${FORBIDDEN_LIMIT} ${this.#thing}s in a row`, { ...stop, hint });
    }
    if (this.#unreachable < UNREACHABLE_LIMIT) return undefined;
    const { hint = 'run it again later' } = error;
    const message = `${UNREACHABLE_LIMIT} ${this.#thing}s in a row could not even connect`;
    return new FilingsError('temporary', message, { ...stop, hint });
  }
}

/** What the end of a run tells apart: the code of an error, or what a temporary one is about. */
export type FailureKind = ErrorCode | 'certificate' | 'too-many-requests';

export function failureKind({ code, fault, problem }: FilingsError): FailureKind {
  if (code !== 'temporary') return code;
  if (fault === 'certificate') return fault;
  return problem?.status === 429 ? 'too-many-requests' : code;
}

/** How a batch came to its end. */
export interface BatchEnd {
  /** What stopped it before, if anything did. */
  readonly stoppedBy: FilingsError | undefined;
  /** How many files (or filings) were not started, or called off; undefined: the input was not read to its end. */
  readonly notStarted: number | undefined;
}

export interface BatchResult extends BatchEnd {
  readonly files: number;
  readonly failed: number;
  /** Those that occurred. */
  readonly failures: ReadonlySet<FailureKind>;
}

const TEMPORARY: ReadonlySet<FailureKind> = new Set(['temporary', 'certificate', 'too-many-requests']);

/** Waiting does not mend a certificate. */
function hintFor(kinds: ReadonlySet<FailureKind>, isTemporary: boolean): string {
  const next = isTemporary && !kinds.has('certificate') ? 'run it again later' : 'see the errors above';
  return kinds.has('too-many-requests') ? `${next}; send fewer requests with --rate 1/s` : next;
}

/**
 * The error a batch ends with, or undefined (interface page, "A batch of several files"): a signal, then what stopped it;
 * else failures, permanent ones first; else a limit. What happened before is told, too.
 */
export function batchError(result: BatchResult, thing: Thing = 'file'): FilingsError | undefined {
  const { files, failed, failures: kinds, stoppedBy, notStarted } = result;
  if (stoppedBy?.code === 'interrupted') return stoppedBy;
  const failures = failed > 0 ? `${failed} of ${files} ${thing}s failed` : undefined;
  const rest = notStarted === undefined ? 'the rest' : counted(notStarted, thing);
  const left = notStarted === 0 ? undefined : `${rest} not started`;
  if (stoppedBy && (stoppedBy.code !== 'limit' || !failures)) {
    // Unless it came from outside, what stopped it is one of the failures, and says all where it is the only one.
    const before = failed > (stoppedBy.isTimeUp ? 0 : 1) ? failures : undefined;
    return stoppedBy.with({ remarks: [before, left].filter((remark) => remark !== undefined) });
  }
  if (!failures) return undefined;
  const stopped = stoppedBy ? [stoppedBy.reason, left] : [];
  const isTemporary = [...kinds].every((kind) => TEMPORARY.has(kind));
  const code = isTemporary ? 'temporary' : 'partial';
  return new FilingsError(code, failures, {
    remarks: stopped.filter((remark) => remark !== undefined),
    hint: hintFor(kinds, isTemporary),
  });
}
