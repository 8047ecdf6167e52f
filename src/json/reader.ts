import { type FaultKind, Scanner, Stop } from './scanner.ts';
import { setMember } from './value.ts';

export interface JsonRules {
  /** Levels of nesting. */
  readonly deepest: number;
  /** Values altogether, lists and objects among them, some of which count for several: memory goes by their number. */
  readonly most?: number;
  /** What becomes of a member that stands twice: refused, or the last one counts. */
  readonly twice: 'refused' | 'last';
  /** Numbers as they stand (`JsonNumber`), or as near as JavaScript has them. */
  readonly numbers: 'exact' | 'nearest';
}

/** Why a text is not taken. Nothing of its values is in it. */
export interface JsonFault {
  readonly kind: FaultKind;
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
  count: number;
}

/** An object of more members is kept as a table, each of which takes as long as several values. */
const FEW_MEMBERS = 1000;
/** What such a member, or an object that keeps its order, counts for beside itself. */
const COSTLY = 7;
const [QUOTE, COMMA, MINUS, COLON] = [0x22, 0x2c, 0x2d, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Reads JSON value by value, without recursion, so that it can pause anywhere and no nesting overflows the stack. */
export class Reader {
  value: unknown;
  fault: JsonFault | undefined;
  readonly #text: Scanner;
  readonly #rules: JsonRules;
  readonly #open: (OpenList | OpenObject)[] = [];
  #values = 0;
  #ended = false;

  constructor(text: string, rules: JsonRules) {
    this.#text = new Scanner(text);
    this.#rules = rules;
  }

  /** Reads so many values more, or to the end; whether it has ended, with a value or a fault. */
  read(values: number): boolean {
    try {
      for (let left = values; left > 0 && !this.#ended; left -= 1) this.#readValue();
    } catch (stop) {
      if (!(stop instanceof Stop)) throw stop;
      this.#ended = true;
      this.fault = { kind: stop.kind, at: this.#text.at, path: this.#path() };
    }
    return this.#ended;
  }

  #readValue(): void {
    this.#values += 1;
    if (this.#values > (this.#rules.most ?? Number.POSITIVE_INFINITY)) throw new Stop('too many');
    const next = this.#text.next();
    if (next === OPEN_LIST) this.#openList();
    else if (next === OPEN_OBJECT) this.#openObject();
    else if (next === QUOTE) this.#take(this.#text.string());
    else if (next === MINUS || (next >= 0x30 && next <= 0x39))
      this.#take(this.#text.number(this.#rules.numbers === 'exact'));
    else this.#take(this.#text.word());
  }

  #openList(): void {
    this.#enter({ items: [] });
    if (this.#text.next() === CLOSE_LIST) this.#take(this.#leave());
  }

  #openObject(): void {
    this.#enter({ members: {}, name: '', count: 0 });
    if (this.#text.next() === CLOSE_OBJECT) this.#take(this.#leave());
    else this.#memberName();
  }

  #enter(container: OpenList | OpenObject): void {
    if (this.#open.length >= this.#rules.deepest) throw new Stop('too deep');
    this.#open.push(container);
    this.#text.at += 1;
  }

  #leave(): unknown {
    const left = this.#open.pop() as OpenList | OpenObject;
    this.#text.at += 1;
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
      else if (setMember(within.members, within.name, taken)) this.#values += COSTLY;
      const next = this.#text.next();
      if (next === COMMA) {
        this.#text.at += 1;
        if (within.members !== undefined) this.#memberName();
        return;
      }
      if (next !== (within.items === undefined ? CLOSE_OBJECT : CLOSE_LIST)) throw new Stop('syntax');
    }
  }

  #end(value: unknown): void {
    if (!Number.isNaN(this.#text.next())) throw new Stop('syntax');
    this.value = value;
    this.#ended = true;
  }

  #memberName(): void {
    const within = this.#open.at(-1) as OpenObject;
    if (this.#text.next() !== QUOTE) throw new Stop('syntax');
    const start = this.#text.at;
    within.name = this.#text.string();
    within.count += 1;
    if (within.count > FEW_MEMBERS) this.#values += COSTLY;
    if (this.#rules.twice === 'refused' && Object.hasOwn(within.members, within.name)) {
      this.#text.at = start;
      throw new Stop('twice');
    }
    if (this.#text.next() !== COLON) throw new Stop('syntax');
    this.#text.at += 1;
  }

  #path(): string[] {
    return this.#open.map((within) => (within.items === undefined ? within.name : String(within.items.length)));
  }
}
