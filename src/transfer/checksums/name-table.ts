import { hash, randomBytes } from 'node:crypto';
import type { ByteText } from '../../disk/byte-text.ts';

const SMALLEST = 64;
const FULLEST = 0.6;

/**
 * Names with a number each, in 16 bytes a place whatever their length: a directory may hold a million. Of a name it keeps
 * 64 bits of a salted SHA-256, so that names can't be chosen to be taken for one another.
 */
export class NameTable {
  readonly #salt = randomBytes(16).toString('hex');
  #keys = new Uint32Array(2 * SMALLEST);
  /** One more than the number; 0 is a free place. */
  #numbers = new Float64Array(SMALLEST);
  #size = 0;

  /** How many names there are. */
  get size(): number {
    return this.#size;
  }

  /** The bytes of memory that it takes. */
  get bytes(): number {
    return this.#keys.byteLength + this.#numbers.byteLength;
  }

  /** The number of a name, undefined for one that is not there. */
  get(name: ByteText): number | undefined {
    const number = this.#numbers[this.#placeOf(...this.#digest(name))] ?? 0;
    return number === 0 ? undefined : number - 1;
  }

  /** Gives a name a number: a whole one from 0. */
  set(name: ByteText, number: number): void {
    const [high, low] = this.#digest(name);
    const place = this.#placeOf(high, low);
    if (this.#numbers[place] === 0) this.#size += 1;
    this.#put(place, high, low, number + 1);
    if (this.#size > this.#numbers.length * FULLEST) this.#grow();
  }

  #digest(name: ByteText): readonly [high: number, low: number] {
    const digest = hash('sha256', this.#salt + name);
    return [Number.parseInt(digest.slice(0, 8), 16), Number.parseInt(digest.slice(8, 16), 16)];
  }

  #placeOf(high: number, low: number): number {
    const mask = this.#numbers.length - 1;
    let place = low & mask;
    while (this.#numbers[place] !== 0 && (this.#keys[2 * place] !== high || this.#keys[2 * place + 1] !== low)) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #put(place: number, high: number, low: number, number: number): void {
    this.#keys[2 * place] = high;
    this.#keys[2 * place + 1] = low;
    this.#numbers[place] = number;
  }

  #grow(): void {
    const keys = this.#keys;
    const numbers = this.#numbers;
    this.#keys = new Uint32Array(2 * keys.length);
    this.#numbers = new Float64Array(2 * numbers.length);
    numbers.forEach((number, place) => {
      if (number === 0) return;
      const high = keys[2 * place] ?? 0;
      const low = keys[2 * place + 1] ?? 0;
      this.#put(this.#placeOf(high, low), high, low, number);
    });
  }
}
