/** Something held open under a key. */
interface Held<T> {
  readonly key: string;
  readonly value: Promise<T>;
  users: number;
}

/** Things held open, each used by any number at once; those that nobody uses are closed when there is no room for another. */
export class Pool<T> {
  readonly #most: number;
  readonly #shut: (value: T) => Promise<void>;
  readonly #held = new Map<string, Held<T>>();
  /** Not in use, the one that was used last at the end. */
  readonly #idle = new Set<Held<T>>();

  /** `most` are held at once, unless more are in use; `shut` may fail without anybody hearing of it. */
  constructor(most: number, shut: (value: T) => Promise<void>) {
    this.#most = most;
    this.#shut = shut;
  }

  /** What is held under a key, opened first if it is not; until as many times released. Throws what `open` throws. */
  acquire(key: string, open: () => Promise<T>): Promise<T> {
    const there = this.#held.get(key);
    if (there) {
      there.users += 1;
      this.#idle.delete(there);
      return there.value;
    }
    const held = { key, value: this.#makeRoom().then(open), users: 1 };
    this.#held.set(key, held);
    // The next one may try again.
    held.value.catch(() => this.#held.delete(key));
    return held.value;
  }

  /** Of one that was acquired. */
  release(key: string): void {
    const held = this.#held.get(key);
    if (!held) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#idle.add(held);
    if (this.#held.size > this.#most) void this.#drop(held);
  }

  /** Closes all, also what is in use. */
  async close(): Promise<void> {
    await Promise.all([...this.#held.values()].map((held) => this.#drop(held)));
  }

  async #makeRoom(): Promise<void> {
    if (this.#held.size < this.#most) return;
    const [oldest] = this.#idle;
    if (oldest) await this.#drop(oldest);
  }

  async #drop(held: Held<T>): Promise<void> {
    this.#idle.delete(held);
    this.#held.delete(held.key);
    await held.value.then(this.#shut).catch(() => {});
  }
}
