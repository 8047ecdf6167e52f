// A Map of V8 holds at most 2^24 entries, and throws a RangeError at the next one. A run may have more file names.

/** This is far below the limit of V8, because a growing Map holds its old and its new table at the same time. */
const MAX_ENTRIES_OF_A_MAP = 2 ** 20;

/** A Map whose size is limited by memory alone. */
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

  /** Returns the map that has the key, otherwise the one that new keys are added to. */
  #mapOf(key: K): Map<K, V> {
    for (const map of this.#full) if (map.has(key)) return map;
    return this.#last;
  }
}
