import { JsonNumber, setMember } from './value.ts';

export interface JsonRules {
  /** Levels of nesting. */
  readonly deepest: number;
  /** Values altogether, lists and objects among them: what is read takes memory by their number. */
  readonly most?: number;
  /** What becomes of a member that stands twice: refused, or the last one counts. */
  readonly twice: 'refused' | 'last';
  /** Numbers as they stand ({@link JsonNumber}), or as near as JavaScript has them. */
  readonly numbers: 'exact' | 'nearest';
}

/** Why a text is not taken. Nothing of its values is in it. */
export interface JsonFault {
  readonly kind: 'syntax' | 'too deep' | 'too many' | 'twice';
  /** UTF-16 units before it. */
  readonly at: number;
  /** The names that lead there; of a list's item, its number. */
  readonly path: readonly string[];
}

interface OpenList {
  readonly items: unknown[];
  readonly members?: undefined;
}
interface OpenObject {
  readonly items?: undefined;
  readonly members: Record<string, unknown>;
  /** Of the member that is being read. */
  name: string;
}

/** An object that keeps its order takes the room of so many values. */
const VALUES_OF_AN_ORDER = 8;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS: readonly (readonly [text: string, value: unknown])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const [QUOTE, COMMA, MINUS, COLON, BACKSLASH] = [0x22, 0x2c, 0x2d, 0x3a, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Ends the reading; never leaves this file. */
class Stop {
  readonly kind: JsonFault['kind'];
  constructor(kind: JsonFault['kind']) {
    this.kind = kind;
  }
}

/** Reads JSON value by value, without recursion, so that it can pause anywhere and no nesting overflows the stack. */
export class Reader {
  value: unknown;
  fault: JsonFault | undefined;
  readonly #text: string;
  readonly #rules: JsonRules;
  readonly #open: (OpenList | OpenObject)[] = [];
  #at = 0;
  #values = 0;
  #ended = false;

  constructor(text: string, rules: JsonRules) {
    this.#text = text;
    this.#rules = rules;
  }

  /** Reads so many values more, or to the end; whether it has ended, with a value or a fault. */
  read(values: number): boolean {
    try {
      for (let left = values; left > 0 && !this.#ended; left -= 1) this.#readValue();
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop;
      this.#ended = true;
      this.fault = { kind: stop.kind, at: this.#at, path: this.#path() };
    }
    return this.#ended;
  }

  #readValue(): void {
    this.#values += 1;
    if (this.#values > (this.#rules.most ?? Number.POSITIVE_INFINITY)) throw new Stop('too many');
    const next = this.#next();
    if (next === OPEN_LIST) this.#openList();
    else if (next === OPEN_OBJECT) this.#openObject();
    else if (next === QUOTE) this.#take(this.#string());
    else if (next === MINUS || (next >= 0x30 && next <= 0x39)) this.#take(this.#number());
    else this.#take(this.#word());
  }

  #openList(): void {
    this.#enter({ items: [] });
    if (this.#next() === CLOSE_LIST) this.#take(this.#leave());
  }

  #openObject(): void {
    this.#enter({ members: {}, name: '' });
    if (this.#next() === CLOSE_OBJECT) this.#take(this.#leave());
    else this.#memberName();
  }

  #enter(container: OpenList | OpenObject): void {
    if (this.#open.length >= this.#rules.deepest) throw new Stop('too deep');
    this.#open.push(container);
    this.#at += 1;
  }

  #leave(): unknown {
    const left = this.#open.pop() as OpenList | OpenObject;
    this.#at += 1;
    return left.items ?? left.members;
  }

  /** Puts a value where it belongs, and each container that ends with it, up to where the next value begins. */
  #take(value: unknown): void {
    for (let taken = value; ; taken = this.#leave()) {
      const within = this.#open.at(-1);
      if (within === undefined) {
        this.#end(taken);
        return;
      }
      if (within.items !== undefined) within.items.push(taken);
      else if (setMember(within.members, within.name, taken)) this.#values += VALUES_OF_AN_ORDER;
      const next = this.#next();
      if (next === COMMA) {
        this.#at += 1;
        if (within.members !== undefined) this.#memberName();
        return;
      }
      if (next !== (within.items === undefined ? CLOSE_OBJECT : CLOSE_LIST)) throw new Stop('syntax');
    }
  }

  #end(value: unknown): void {
    if (!Number.isNaN(this.#next())) throw new Stop('syntax');
    this.value = value;
    this.#ended = true;
  }

  #memberName(): void {
    const within = this.#open.at(-1) as OpenObject;
    if (this.#next() !== QUOTE) throw new Stop('syntax');
    const start = this.#at;
    within.name = this.#string();
    if (this.#rules.twice === 'refused' && Object.hasOwn(within.members, within.name)) {
      this.#at = start;
      throw new Stop('twice');
    }
    if (this.#next() !== COLON) throw new Stop('syntax');
    this.#at += 1;
  }

  #string(): string {
    const start = this.#at;
    const end = this.#endOfString();
    const raw = this.#text.slice(start + 1, end);
    // Nothing below the space stands in a string as it is.
    if (/[^ -\uffff]/.test(raw)) throw new Stop('syntax');
    const value = raw.includes('\\') ? unescaped(`"${raw}"`) : raw;
    this.#at = end + 1;
    return value;
  }

  /** The quote that ends the string which begins here: the first with an even number of backslashes before it. */
  #endOfString(): number {
    for (let from = this.#at + 1; ; ) {
      const end = this.#text.indexOf('"', from);
      if (end === -1) throw new Stop('syntax');
      let first = end;
      while (first > from && this.#text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
      if ((end - first) % 2 === 0) return end;
      from = end + 1;
    }
  }

  #number(): unknown {
    NUMBER.lastIndex = this.#at;
    const text = NUMBER.exec(this.#text)?.[0];
    if (text === undefined) throw new Stop('syntax');
    this.#at += text.length;
    const value = Number(text);
    return this.#rules.numbers === 'nearest' || String(value) === text ? value : new JsonNumber(text);
  }

  #word(): unknown {
    const word = WORDS.find(([text]) => this.#text.startsWith(text, this.#at));
    if (word === undefined) throw new Stop('syntax');
    this.#at += word[0].length;
    return word[1];
  }

  /** The code of the next character that is no white space; NaN at the end. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#at += 1;
    }
  }

  #path(): string[] {
    return this.#open.map((within) => (within.items === undefined ? within.name : String(within.items.length)));
  }
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    throw new Stop('syntax');
  }
}
