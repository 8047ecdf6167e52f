import { FilingsError } from '../errors.ts';

/** SHA-256 in lower-case hexadecimal digits. */
type Sha256 = string;

/** What is known of a file's hash, and whether it is to be told: the one place that says when one is made and required. */
export class Proof {
  readonly #expected: Sha256 | undefined;
  readonly #hashed: boolean;

  /** `expected` is what the file must hash to, where that is known; `hashed` asks for the hash all the same. */
  constructor(expected: Sha256 | undefined, hashed = false) {
    this.#expected = expected;
    this.#hashed = hashed;
  }

  /** Whether the file must have one hash. */
  get expects(): boolean {
    return this.#expected !== undefined;
  }

  /** Whether a file that comes is hashed at all. */
  get hashed(): boolean {
    return this.#hashed || this.expects;
  }

  /** Whether bytes are the whole file, as their hash alone can prove; never where it is not known. */
  async holds(hash: () => Sha256 | Promise<Sha256>): Promise<boolean> {
    return this.#expected !== undefined && (await hash()) === this.#expected;
  }

  /**
   * The hash, or undefined where nobody wants it. Throws `integrity` when it is not the one that the file must have;
   * `path` names a file that did not come from the service just now.
   */
  async require(hash: () => Sha256 | Promise<Sha256>, path?: string): Promise<Sha256 | undefined> {
    if (!this.hashed) return undefined;
    const found = await hash();
    if (!this.expects || found === this.#expected) return found;
    const why = `wrong hash: its SHA-256 is ${found}, not ${this.#expected}`;
    throw new FilingsError('integrity', path === undefined ? why : `${path}: ${why}`, {
      hint: 'it is not the file that --sha256 means: check both',
    });
  }
}
