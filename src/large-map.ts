// V8 lets a Map hold 2^24 entries, and throws a RangeError at the next one. A run may have more file names than that.

const MAX_ENTRIES_OF_A_MAP = 2 ** 23;

/** A Map whose size only memory limits. Entries are never removed. */
export class LargeMap<K, V> {
  readonly #maxEntriesOfAMap: number;
  /** Each key is in one of these, or in the last map. */
  readonly #full: Map<K, V>[] = [];
  #last = new Map<K, V>();

  constructor(maxEntriesOfAMap = MAX_ENTRIES_OF_A_MAP) {
    this.#maxEntriesOfAMap = maxEntriesOfAMap;
  }

  get size(): number {
    return this.#full.length * this.#maxEntriesOfAMap + this.#last.size;
  }

  get(key: K): V | undefined {
    return this.#owner(key).get(key);
  }

  has(key: K): boolean {
    return this.#owner(key).has(key);
  }

  set(key: K, value: V): void {
    const owner = this.#owner(key);
    if (owner !== this.#last || owner.size < this.#maxEntriesOfAMap || owner.has(key)) {
      owner.set(key, value);
      return;
    }
    this.#full.push(owner);
    this.#last = new Map([[key, value]]);
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const map of this.#full) yield* map;
    yield* this.#last;
  }

  /** The map that has the key; otherwise the last one. */
  #owner(key: K): Map<K, V> {
    for (const map of this.#full) if (map.has(key)) return map;
    return this.#last;
  }
}
