import { JsonNumber } from './value.ts';

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [text: string, value: unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const BACKSLASH = 0x5c;

export type FaultKind = 'syntax' | 'too deep' | 'too many' | 'twice';

/** Ends the reading; never leaves this folder. */
export class Stop {
  readonly kind: FaultKind;

  constructor(kind: FaultKind) {
    this.kind = kind;
  }
}

/** Reads strings, numbers and words from a place in JSON text. */
export class Scanner {
  /** UTF-16 units that were read. */
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The code of the next character that is no white space; NaN at the end. */
  next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.at += 1;
    }
  }

  string(): string {
    const start = this.at;
    const end = this.#endOfString();
    const raw = this.#text.slice(start + 1, end);
    // Nothing below the space stands in a string as it is.
    if (/[^ -\uffff]/.test(raw)) throw new Stop('syntax');
    const value = raw.includes('\\') ? unescaped(`"${raw}"`) : raw;
    this.at = end + 1;
    return value;
  }

  /** The quote that ends the string which begins here: the first with an even number of backslashes before it. */
  #endOfString(): number {
    for (let from = this.at + 1; ; ) {
      const end = this.#text.indexOf('"', from);
      if (end === -1) throw new Stop('syntax');
      let first = end;
      while (first > from && this.#text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
      if ((end - first) % 2 === 0) return end;
      from = end + 1;
    }
  }

  number(exact: boolean): unknown {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.#text)?.[0];
    if (text === undefined) throw new Stop('syntax');
    this.at += text.length;
    const value = Number(text);
    return !exact || String(value) === text ? value : new JsonNumber(text);
  }

  word(): unknown {
    const word = WORDS.find(([text]) => this.#text.startsWith(text, this.at));
    if (word === undefined) throw new Stop('syntax');
    this.at += word[0].length;
    return word[1];
  }
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    throw new Stop('syntax');
  }
}
