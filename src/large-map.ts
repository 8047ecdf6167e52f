// V8 lets a Map hold 2^24 entries, and throws a RangeError at the next one. A run may have more file names than that.

/** Far below the limit of V8, because a Map that grows holds its old and its new table for a moment. */
const MAX_ENTRIES_OF_A_MAP = 2 ** 20;

/** A Map whose size only memory limits. */
export class LargeMap<K, V> {
  readonly #maxEntriesOfAMap: number;
  readonly #full: Map<K, V>[] = [];
  #last = new Map<K, V>();

  constructor(maxEntriesOfAMap = MAX_ENTRIES_OF_A_MAP) {
    this.#maxEntriesOfAMap = maxEntriesOfAMap;
  }

  get size(): number {
    return this.#full.length * this.#maxEntriesOfAMap + this.#last.size;
  }

  get(key: K): V | undefined {
    return this.#mapOf(key).get(key);
  }

  has(key: K): boolean {
    return this.#mapOf(key).has(key);
  }

  set(key: K, value: V): void {
    const map = this.#mapOf(key);
    if (map.size < this.#maxEntriesOfAMap || map.has(key)) {
      map.set(key, value);
      return;
    }
    this.#full.push(map);
    this.#last = new Map([[key, value]]);
  }

  /** The map that has the key, or the one that new keys are added to. */
  #mapOf(key: K): Map<K, V> {
    for (const map of this.#full) if (map.has(key)) return map;
    return this.#last;
  }
}
