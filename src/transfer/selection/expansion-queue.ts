import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import type { Expanded } from './expanded.ts';
import type { InputEntry, InputLine } from './input/line.ts';
import type { Layout } from './layout.ts';
import { ListingSlot } from './listing-slot.ts';
import { NameCheck } from './name-check.ts';

/** A line of the input, or what an argument names. */
export type Selected = Exclude<InputLine, { kind: 'blank' }> & { readonly number?: number };

export interface QueueOptions {
  readonly layout: Layout;
  /** Undefined: nothing says what to take of a filing that stands alone, which is a usage error. */
  readonly chosen: ((name: string) => boolean) | undefined;
  /** Whether a filing is passed over, since the done list has it. Asked once of each. */
  readonly passesOver?: (accession: AccessionNumber) => boolean;
}

type Slot = ListingSlot | { readonly state: 'ready'; next(check: NameCheck): Expanded | undefined };

/** What was selected and not handed out, in its order. Each filing is listed once, each file handed out once. */
export class ExpansionQueue {
  readonly #options: QueueOptions;
  readonly #check: NameCheck;
  readonly #listed = new Set<AccessionNumber>();
  #slots: Slot[] = [];

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#check = new NameCheck(options.layout);
  }

  /** How many selected things are in it, of which a filing is one. */
  get length(): number {
    return this.#slots.length;
  }

  /** How many things it could give now. */
  get waiting(): number {
    return this.#slots.reduce((sum, slot) => sum + (slot instanceof ListingSlot ? slot.waiting : 1), 0);
  }

  /** Bytes of the files it could give now; undefined where nobody has told those of one. */
  get bytes(): number | undefined {
    let sum = 0;
    for (const slot of this.#slots) {
      const bytes = slot instanceof ListingSlot ? slot.bytes : undefined;
      if (bytes === undefined) return undefined;
      sum += bytes;
    }
    return sum;
  }

  /** Whether a filing in it waits for its listing. */
  get isListing(): boolean {
    return this.#slots.some(({ state }) => state === 'held' || state === 'asked');
  }

  /** How many things are left in it, as far as anybody knows: a filing without its listing is one. */
  get left(): number {
    const isUnlisted = ({ state }: Slot) => state === 'held' || state === 'asked';
    return this.waiting + this.#slots.filter(isUnlisted).length;
  }

  put(selected: Selected): void {
    const slot = this.#slotFor(selected);
    if (slot) this.#slots.push(slot);
  }

  /** The next thing of the first slot that has one: what is there does not wait for a listing that is not. */
  take(): Expanded | undefined {
    for (let at = 0; at < this.#slots.length; ) {
      const slot = this.#slots[at];
      const item = slot?.next(this.#check);
      if (slot?.state === 'ready' || slot?.state === 'through') this.#slots.splice(at, 1);
      else at += 1;
      if (item !== undefined) return item;
    }
    return undefined;
  }

  /** The first filings that wait to be listed. */
  held(most: number): ListingSlot[] {
    const held: ListingSlot[] = [];
    for (const slot of this.#slots) {
      if (held.length >= most) break;
      if (slot.state === 'held') held.push(slot);
    }
    return held;
  }

  clear(): void {
    this.#slots = [];
  }

  #slotFor(selected: Selected): Slot | undefined {
    const { chosen, passesOver } = this.#options;
    if (selected.kind === 'bad') return ready({ kind: 'bad', number: selected.number, error: selected.fault });
    const { accession, file: fileName, number } = selected;
    if (fileName !== undefined) {
      return { state: 'ready', next: (check) => check.check({ accession, fileName, size: undefined, listed: false }) };
    }
    if (chosen === undefined) return ready({ kind: 'bad', number, error: nothingChosen(selected) });
    if (this.#listed.has(accession)) return undefined;
    this.#listed.add(accession);
    return passesOver?.(accession) ? undefined : new ListingSlot(accession);
  }
}

function ready(item: Expanded): Slot {
  return { state: 'ready', next: () => item };
}

function nothingChosen({ accession }: InputEntry): FilingsError {
  return new FilingsError('usage', `${accession}: no file of it is named, and nothing says which to take`, {
    hint: 'add --all, or --include GLOB',
    stopsRun: true,
  });
}
