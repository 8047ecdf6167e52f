import { type Answer, failure, fileAnswer, listing, type Ranges, wireBytes } from './answer.ts';
import type { Filed } from './archive.ts';
import { type Asked, readHead } from './asked.ts';
import type { Connection } from './internet.ts';
import type { Fault, Plan } from './plan.ts';
import type { Scheduler } from './scheduler.ts';

const NO_FAULT: Fault = { kind: 'none', at: 0, wait: 0 };
/** The schedule's epoch: some Tuesday. Milliseconds. */
export const EPOCH = Date.UTC(2026, 0, 6);
/** The service's own address, and another one to which it sends away. */
export const HOME = '127.0.0.1:8080';
const AWAY = '127.0.0.2:8081';
export const KEY = 'a-key-of-a-schedule';
/** So slow is slow: what comes is never idle. */
const SLOW_MS = 20_000;
const DRIP_MS = 10_000;

/** How ranges are answered. */
const RANGES: Readonly<Partial<Record<Fault['kind'], Ranges>>> = {
  'no-range': 'ignored',
  'wrong-range': 'wrong',
  'range-of-another': 'unconditional',
};

/** The service of a schedule: right, but for what the plan does to each request. */
export class Service {
  readonly asked: Asked[] = [];
  readonly #plan: Plan;
  readonly #files: readonly Filed[];
  readonly #scheduler: Scheduler;
  #next = 0;
  /** From now on nothing goes wrong. */
  isCalm = false;

  constructor(plan: Plan, files: readonly Filed[], scheduler: Scheduler) {
    this.#plan = plan;
    this.#files = files;
    this.#scheduler = scheduler;
  }

  readonly serve = async (head: string, connection: Connection): Promise<void> => {
    const { path, fields } = readHead(head);
    const accession = path.searchParams.get('accession_no') ?? '';
    const name = path.searchParams.get('file_name');
    const file = this.#files.find((each) => each.accession === accession && each.name === name);
    const fault = this.#nextFault(file);
    if (file && (fault.kind === 'new-version' || fault.kind === 'range-of-another')) file.version += 1;
    if (file && !this.isCalm && this.#plan.ranges === 'unconditional' && fields.has('range')) file.version += 1;
    const answer = this.#answer(fault, path, fields, file) ?? listing(accession, this.#files, this.#plan);
    const seen: Asked = {
      process: connection.process,
      at: this.#scheduler.now,
      accession,
      file,
      fault: fault.kind,
      isAway: connection.host !== HOME,
      hasKey: head.includes(KEY),
      version: file?.version ?? 0,
      status: answer.status,
      wholeAt: undefined,
      bodyBytes: answer.body.length,
      until: this.#until(fault),
    };
    this.asked.push(seen);
    this.#scheduler.note(
      `service: ${accession} ${name ?? ''}: ${answer.status}, ${fault.kind} ${fault.at} ${fault.wait}`,
    );
    await this.#jump(seen, false);
    await this.#send(answer, fault, connection, seen);
  };

  #nextFault(file: Filed | undefined): Fault {
    const fault = this.isCalm ? NO_FAULT : (this.#ownFault(file) ?? this.#plan.faults[this.#next++] ?? NO_FAULT);
    const forFiles = ['new-version', 'range-of-another', 'no-range', 'wrong-range'].includes(fault.kind);
    return forFiles && !file ? NO_FAULT : fault;
  }

  /** The clock of the machine that asks. */
  async #jump(seen: Asked, half: boolean): Promise<void> {
    const nth = this.asked.indexOf(seen);
    for (const { request, isHalf, by } of this.#plan.clock.jumps) {
      if (request !== nth || isHalf !== half) continue;
      const set = () => {
        this.#scheduler.aheadMs += by;
      };
      await this.#scheduler.do(() => `the clock is set by ${by} ms`, set, undefined);
    }
  }

  #ownFault(file: Filed | undefined): Fault | undefined {
    if (!file) return undefined;
    const nth = this.asked.filter((asked) => asked.file === file).length;
    return file.faults[nth];
  }

  /** By the schedule's clock; a date has whole seconds. */
  #until({ kind, wait }: Fault): number | undefined {
    const until = this.#scheduler.now + wait * 1000;
    if (kind === 'wait-date') return Math.floor((EPOCH + until) / 1000) * 1000 - EPOCH;
    return kind === 'wait-seconds' ? until : undefined;
  }

  /** Undefined: the listing. */
  #answer({ kind, wait }: Fault, path: URL, fields: ReadonlyMap<string, string>, file: Filed | undefined) {
    if (kind === 'unavailable') return failure(503);
    if (kind === 'not-found') return failure(404);
    if (kind === 'wait-seconds') return failure(429, `Retry-After: ${wait}`);
    if (kind === 'wait-date') {
      const until = new Date(EPOCH + this.#scheduler.now + wait * 1000).toUTCString();
      return failure(503, `Retry-After: ${until}`);
    }
    if (kind === 'redirect-away') return failure(302, `Location: http://${AWAY}/elsewhere${path.search}`);
    if (kind === 'redirect') return failure(302, `Location: /elsewhere${path.search}`);
    if (!file) return undefined;
    return fileAnswer(file, fields, RANGES[kind] ?? (this.isCalm ? 'kept' : this.#plan.ranges));
  }

  async #send(answer: Answer, { kind, at, wait }: Fault, connection: Connection, seen: Asked): Promise<void> {
    const bytes = wireBytes(answer, EPOCH + seen.at);
    const upTo = Math.floor(at * bytes.length);
    const [first, rest] = [bytes.subarray(0, upTo), bytes.subarray(upTo)];
    let isWhole: boolean;
    switch (kind) {
      case 'fin':
        // An end that is clean ends what only the connection ends: nobody could tell.
        await connection.send(answer.framing === 'until-close' ? bytes : first);
        return connection.finish();
      case 'reset':
      case 'unseen-reset':
        await connection.send(first);
        return connection.reset(kind === 'unseen-reset');
      case 'stall':
        await connection.send(first);
        return;
      case 'drip':
        return this.#drip(bytes, connection);
      case 'slow':
        await this.#scheduler.sleep(Math.min(wait * 1000, SLOW_MS));
        await connection.send(first);
        await this.#scheduler.sleep(Math.min(wait * 1000, SLOW_MS));
        isWhole = await connection.send(rest);
        break;
      case 'surplus':
        // What only the connection ends has no end for bytes to be behind.
        isWhole = await connection.send(
          answer.framing === 'until-close' ? bytes : Buffer.concat([bytes, Buffer.from('surplus')]),
        );
        break;
      default:
        await connection.send(first);
        await this.#jump(seen, true);
        isWhole = await connection.send(rest);
    }
    // One that was sent to a connection that the program had left says nothing to it.
    if (isWhole) seen.wholeAt = this.#scheduler.now;
    if (answer.framing === 'until-close' || kind === 'close-idle') await connection.finish();
  }

  /** A byte now and then: what is idle in the end. */
  async #drip(bytes: Buffer, connection: Connection): Promise<void> {
    for (let at = 0; at < bytes.length && !connection.closed; at += 1) {
      await connection.send(bytes.subarray(at, at + 1));
      await this.#scheduler.sleep(DRIP_MS);
    }
  }
}
