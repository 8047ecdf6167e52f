import type { Selected } from '../../transfer/selection/expansion-queue.ts';
import { type NumberedLine, readInputLines } from '../../transfer/selection/input/lines.ts';
import { belongsTo, type Shard } from '../../transfer/selection/input/shard.ts';
import { type Input, openInput } from '../../transfer/selection/input/source.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** What is asked for, as a stream; how far it has been read. */
export interface Lines {
  readonly selected: AsyncIterable<Selected>;
  /** Bytes of the input up to the last line that was read, and of all of it where that is known. */
  readonly read: () => { readonly bytes: number; readonly of: number | undefined } | undefined;
  close(): void;
}

/** Opens what an order names: its arguments, or its shard of the input. Throws `usage` for an input that can't be opened. */
export async function openLines(order: Order, world: World, signal: AbortSignal): Promise<Lines> {
  const { input, shard } = order;
  if (input === undefined) return { selected: named(order), read: () => undefined, close() {} };
  const opened = await openInput(input, world, signal);
  let bytes = 0;
  const selected = numbered(opened, shard, (line) => {
    bytes = line.end;
  });
  return { selected, read: () => ({ bytes, of: opened.size }), close: () => opened.close() };
}

async function* named({ accession, fileNames, chosen }: Order): AsyncGenerator<Selected> {
  if (accession === undefined) return;
  if (chosen) yield { kind: 'entry', accession };
  for (const file of fileNames) yield { kind: 'entry', accession, file };
}

async function* numbered(
  input: Input,
  shard: Shard | undefined,
  onLine: (line: NumberedLine) => void,
): AsyncGenerator<NumberedLine> {
  for await (const line of readInputLines(input.bytes)) {
    onLine(line);
    if (shard === undefined || belongsTo(shard, line)) yield line;
  }
}
