import type { Selected } from '../../../transfer/selection/expansion.ts';
import { openInput } from '../../../transfer/selection/input.ts';
import { type NumberedLine, readBatches } from '../../../transfer/selection/input-lines.ts';
import type { World } from '../../../world.ts';
import type { Order } from '../order/order.ts';
import { TakenLines } from './taken-lines.ts';

/** What is left of an input is counted for so long. */
const COUNTING_MS = 2000;

/** What is asked for, as a stream; how far it has been read. */
export interface Lines {
  readonly selected: AsyncIterable<Selected>;
  /** Bytes of the input up to the last line that was read, and of all of it where that is known. */
  readonly read: () => { readonly bytes: number; readonly of: number | undefined } | undefined;
  /** How many files are named, where nothing else can be. */
  readonly files: number | undefined;
  /** How many lines nobody took, for a run that was stopped; undefined where that can't be found out quickly. */
  rest(): Promise<number | undefined>;
  close(): void;
}

/** Opens what an order names: its arguments, or the input. Throws `usage` for an input that can't be opened. */
export async function openLines(
  order: Order,
  world: World,
  signal: AbortSignal,
  warn: (message: string) => void,
): Promise<Lines> {
  const { input } = order;
  if (input === undefined) return argumentLines(order);
  const opened = await openInput(input, world, signal);
  const taken = new TakenLines(linesOf(opened.bytes, warn));
  return {
    selected: taken,
    files: undefined,
    read: () => ({ bytes: taken.last?.end ?? 0, of: opened.size }),
    async rest() {
      const deadline = AbortSignal.timeout(COUNTING_MS);
      if (!signal.aborted) return countWithin(taken.rest(), deadline);
      // With the signal the input was closed; a file can be read once more.
      if (opened.size === undefined || input === '-') return undefined;
      const again = await openInput(input, world, deadline);
      const count = await countWithin(
        linesOf(again.bytes, () => {}),
        deadline,
      ).finally(() => again.close());
      return count === undefined ? undefined : Math.max(0, count - taken.count);
    },
    close: () => opened.close(),
  };
}

async function* linesOf(
  bytes: AsyncIterable<Uint8Array | string>,
  warn: (message: string) => void,
): AsyncGenerator<NumberedLine> {
  for await (const batch of readBatches(bytes, warn)) yield* batch;
}

function argumentLines(order: Order): Lines {
  const selected = new TakenLines(named(order));
  return {
    selected,
    files: order.chosen ? undefined : new Set(order.fileNames).size,
    read: () => undefined,
    rest: () => countWithin(selected.rest(), AbortSignal.timeout(COUNTING_MS)),
    close() {},
  };
}

async function* named({ accessions, fileNames, chosen }: Order): AsyncGenerator<Selected> {
  for (const accession of accessions) {
    if (chosen) yield { kind: 'entry', accession };
    for (const file of fileNames) yield { kind: 'entry', accession, file };
  }
}

/** Undefined for an input that can't be read, or not to its end in time. */
function countWithin(lines: AsyncIterable<unknown>, deadline: AbortSignal): Promise<number | undefined> {
  const late = new Promise<undefined>((resolve) => deadline.addEventListener('abort', () => resolve(undefined)));
  const counting = async () => {
    let count = 0;
    for await (const _ of lines) {
      if (deadline.aborted) return undefined;
      count += 1;
    }
    return count;
  };
  return Promise.race([late, counting().catch(() => undefined)]);
}
