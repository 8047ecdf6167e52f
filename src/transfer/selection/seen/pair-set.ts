import { randomBytes } from 'node:crypto';

/** The pieces grow one by one: a growth of all at once would need the old and the new side by side. */
const SEGMENTS = 16;
/** Slots of a page, as a power of two. A page that a growth leaves over is used by the next one, not left to be collected. */
const PAGE_BITS = 8;
const PAGE_SLOTS = 1 << PAGE_BITS;
const GROWTH = 1.35;
/** Of a segment's slots, at most so many are in use; the walk to a free one is short. */
const FULLEST = 0.87;

interface Segment {
  /** Of two words a slot; two zeros are a free one. */
  pages: readonly Uint32Array[];
  used: number;
}

/**
 * A set of values of 64 bits, as pairs of 32-bit words: 9.2 to 12.6 bytes each where there are many, where a Set
 * of strings takes ten times as much. Where a value stands is keyed by random bits: nobody
 * can choose values that pile up.
 */
export class PairSet {
  readonly #segments: (Segment | undefined)[] = new Array(SEGMENTS);
  readonly #key = randomBytes(4).readUInt32LE();
  readonly #spare: Uint32Array[] = [];
  /** The pair of zeros, which a slot can't hold. */
  #zero = false;
  #size = 0;
  #pages = 0;

  get size(): number {
    return this.#size;
  }

  /** Bytes that the set takes. */
  get bytes(): number {
    return this.#pages * PAGE_SLOTS * 8;
  }

  has(high: number, low: number): boolean {
    if (high === 0 && low === 0) return this.#zero;
    const hash = this.#hash(high, low);
    const segment = this.#segments[hash & (SEGMENTS - 1)];
    return segment !== undefined && !isFree(segment, slotOf(segment, hash, high, low));
  }

  /** False: it was there already. */
  add(high: number, low: number): boolean {
    const isNew = high === 0 && low === 0 ? !this.#zero : this.#put(high, low);
    if (high === 0 && low === 0) this.#zero = true;
    if (isNew) this.#size += 1;
    return isNew;
  }

  delete(high: number, low: number): void {
    if (!this.has(high, low)) return;
    this.#size -= 1;
    if (high === 0 && low === 0) this.#zero = false;
    else this.#take(high, low);
  }

  #put(high: number, low: number): boolean {
    const hash = this.#hash(high, low);
    const segment = this.#segmentAt(hash & (SEGMENTS - 1));
    const slot = slotOf(segment, hash, high, low);
    if (!isFree(segment, slot)) return false;
    write(segment, slot, high, low);
    segment.used += 1;
    if (segment.used > segment.pages.length * PAGE_SLOTS * FULLEST) this.#grow(segment);
    return true;
  }

  #segmentAt(index: number): Segment {
    let segment = this.#segments[index];
    if (segment === undefined) {
      segment = { pages: [this.#newPage()], used: 0 };
      this.#segments[index] = segment;
    }
    return segment;
  }

  #newPage(): Uint32Array {
    const spare = this.#spare.pop()?.fill(0);
    if (spare) return spare;
    this.#pages += 1;
    return new Uint32Array(PAGE_SLOTS * 2);
  }

  #grow(segment: Segment): void {
    const old = segment.pages;
    segment.pages = Array.from({ length: Math.ceil(old.length * GROWTH) }, () => this.#newPage());
    for (const page of old) {
      for (let at = 0; at < page.length; at += 2) this.#place(segment, page[at] ?? 0, page[at + 1] ?? 0);
      this.#spare.push(page);
    }
  }

  /** Frees a slot, and puts those behind it in anew: a walk to one of them may have passed the freed one. */
  #take(high: number, low: number): void {
    const hash = this.#hash(high, low);
    const segment = this.#segmentAt(hash & (SEGMENTS - 1));
    let slot = slotOf(segment, hash, high, low);
    write(segment, slot, 0, 0);
    segment.used -= 1;
    for (;;) {
      slot = after(segment, slot);
      if (isFree(segment, slot)) return;
      const page = segment.pages[slot >> PAGE_BITS];
      const at = (slot & (PAGE_SLOTS - 1)) * 2;
      const nextHigh = page?.[at] ?? 0;
      const nextLow = page?.[at + 1] ?? 0;
      write(segment, slot, 0, 0);
      this.#place(segment, nextHigh, nextLow);
    }
  }

  #place(segment: Segment, high: number, low: number): void {
    if (high === 0 && low === 0) return;
    write(segment, slotOf(segment, this.#hash(high, low), high, low), high, low);
  }

  /** The last steps of MurmurHash3, over both words and the key. */
  #hash(high: number, low: number): number {
    return mixed(mixed(high ^ this.#key) ^ low);
  }
}

function mixed(word: number): number {
  let mix = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Where a value stands in its segment, or the free slot where it would. */
function slotOf(segment: Segment, hash: number, high: number, low: number): number {
  // The hash as a fraction of all slots: its last bits, which chose the segment, hardly count.
  let slot = Math.floor((hash / 0x1_0000_0000) * segment.pages.length * PAGE_SLOTS);
  for (;;) {
    const page = segment.pages[slot >> PAGE_BITS];
    const at = (slot & (PAGE_SLOTS - 1)) * 2;
    const heldHigh = page?.[at];
    const heldLow = page?.[at + 1];
    if ((heldHigh === high && heldLow === low) || (heldHigh === 0 && heldLow === 0)) return slot;
    slot = after(segment, slot);
  }
}

function after({ pages }: Segment, slot: number): number {
  return slot + 1 === pages.length * PAGE_SLOTS ? 0 : slot + 1;
}

function write({ pages }: Segment, slot: number, high: number, low: number): void {
  const page = pages[slot >> PAGE_BITS];
  const at = (slot & (PAGE_SLOTS - 1)) * 2;
  if (!page) return;
  page[at] = high;
  page[at + 1] = low;
}

function isFree({ pages }: Segment, slot: number): boolean {
  const page = pages[slot >> PAGE_BITS];
  const at = (slot & (PAGE_SLOTS - 1)) * 2;
  return page?.[at] === 0 && page[at + 1] === 0;
}
