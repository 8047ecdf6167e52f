import { openInput } from '../../batch/input.ts';
import { readBatches } from '../../batch/input-lines.ts';
import type { Selected } from '../../batch/selection.ts';
import type { World } from '../../world.ts';
import type { Order } from './order/order.ts';

/** What is asked for, a few lines at a time. */
export interface Lines {
  readonly batches: AsyncIterable<readonly Selected[]>;
  /** A pipe or a terminal, whose end nobody knows. */
  readonly isStream: boolean;
  close(): void;
}

/** Opens what an order names: its arguments, or the input. Throws `usage` for an input that can't be opened. */
export function openLines(order: Order, world: World, note: (text: string) => void): Lines {
  const { input } = order;
  if (input === undefined) return { batches: named(order), isStream: false, close() {} };
  const { bytes, isStream, close } = openInput(input, world, note);
  return { batches: readBatches(bytes, note), isStream, close };
}

async function* named({ accessions, fileNames, chosen }: Order): AsyncGenerator<readonly Selected[]> {
  const [first] = accessions;
  if (chosen) yield accessions.map((accession) => ({ kind: 'entry', accession }));
  else if (first) yield fileNames.map((file) => ({ kind: 'entry', accession: first, file }));
}
