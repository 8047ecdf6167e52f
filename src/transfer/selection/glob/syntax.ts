/** Whether a character, by its code point, is one that stands here. */
export type CharacterTest = (point: number) => boolean;

/** A part of a glob: one character, any number of any (`*`), or one of several sequences (`{a,b}`). */
export type GlobPart = CharacterTest | 'any' | readonly (readonly GlobPart[])[];

/** What is wrong with a glob, as the end of a sentence, and what to write instead. */
export interface GlobFault {
  readonly reason: string;
  readonly hint?: string;
}

/** Characters; the automaton's size goes with it. */
const LONGEST = 1000;

/** Ends the reading; never leaves this file. */
class Stop {
  readonly fault: GlobFault;
  constructor(reason: string, hint?: string) {
    this.fault = hint === undefined ? { reason } : { reason, hint };
  }
}

/**
 * Reads a glob: `*`, `?`, `[abc]`, `[a-z]`, `[!a]` or `[^a]`, `{a,b}` in any nesting, and `\` before a character
 * that means itself. All else is literal. What other programs understand and this one does not is a fault,
 * since it would quietly match something else.
 */
export function readGlob(glob: string): readonly GlobPart[] | GlobFault {
  if (glob === '') return { reason: 'it is empty' };
  const characters = [...glob];
  if (characters.length > LONGEST)
    return { reason: `it is no pattern that can be used: longer than ${LONGEST} characters` };
  try {
    return new GlobReader(characters).whole();
  } catch (stop) {
    if (stop instanceof Stop) return stop.fault;
    throw stop;
  }
}

class GlobReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  whole(): readonly GlobPart[] {
    if (this.#here() === '!') {
      throw new Stop(
        "a '!' at its beginning negates nothing here",
        "--exclude leaves names out; '\\!' is the character itself",
      );
    }
    return this.#sequence('');
  }

  /** Parts up to one of the characters that end it, which is left. */
  #sequence(ends: string): readonly GlobPart[] {
    const parts: GlobPart[] = [];
    for (let here = this.#here(); here !== undefined && !(ends !== '' && ends.includes(here)); here = this.#here()) {
      const part = this.#part(here);
      // Two stars are one.
      if (part !== 'any' || parts.at(-1) !== 'any') parts.push(part);
    }
    return parts;
  }

  #part(here: string): GlobPart {
    if ((here === '!' || here === '@') && this.#characters[this.#at + 1] === '(') {
      throw new Stop(
        `'${here}(' at character ${this.#at + 1} is an extended pattern of shells, which is not understood`,
        instead('('),
      );
    }
    if (here === '{') return this.#choices();
    if (here === '[') return this.#bracket();
    if (here === '*') {
      this.#at += 1;
      return 'any';
    }
    if (here === '?') {
      this.#at += 1;
      return () => true;
    }
    const point = this.#literal();
    return (other) => other === point;
  }

  #choices(): GlobPart {
    const start = this.#at;
    const choices: (readonly GlobPart[])[] = [];
    do {
      this.#at += 1;
      choices.push(this.#sequence(',}'));
    } while (this.#here() === ',');
    if (this.#here() === undefined) throw unclosed('{', start);
    this.#at += 1;
    const inside = this.#characters.slice(start + 1, this.#at - 1).join('');
    if (choices.length === 1 && inside.includes('..')) {
      throw new Stop(`the range {${inside}} at character ${start + 1} is not understood`, 'write [0-9], or {1,2,3}');
    }
    return choices;
  }

  #bracket(): CharacterTest {
    const start = this.#at;
    this.#at += 1;
    const negated = this.#here() === '!' || this.#here() === '^';
    if (negated) this.#at += 1;
    const ranges: (readonly [from: number, to: number])[] = [];
    do ranges.push(this.#range(start));
    while (this.#here() !== ']');
    this.#at += 1;
    return (point) => ranges.some(([from, to]) => from <= point && point <= to) !== negated;
  }

  /** One character of a bracket, or the range that it begins. */
  #range(start: number): readonly [from: number, to: number] {
    const at = this.#at;
    if (this.#here() === '[' && /[:.=]/.test(this.#characters[at + 1] ?? '')) {
      throw new Stop(
        `'[${this.#characters[at + 1]}' at character ${at + 1} is not understood`,
        'write a range, such as [0-9] or [A-Za-z]',
      );
    }
    const from = this.#member(start);
    // A dash before the end means itself.
    if (this.#here() !== '-' || this.#characters[this.#at + 1] === ']') return [from, from];
    this.#at += 1;
    const to = this.#member(start);
    if (to >= from) return [from, to];
    throw new Stop(`the range ${this.#characters.slice(at, this.#at).join('')} at character ${at + 1} runs backwards`);
  }

  #member(start: number): number {
    if (this.#here() === undefined) throw unclosed('[', start);
    return this.#literal();
  }

  /** The code point of the next character, or of the one that a backslash stands before. */
  #literal(): number {
    if (this.#here() === '\\') this.#at += 1;
    const character = this.#here();
    if (character === undefined)
      throw new Stop("the '\\' at its end stands before nothing", "'\\\\' is the character itself");
    this.#at += 1;
    return character.codePointAt(0) ?? 0;
  }

  #here(): string | undefined {
    return this.#characters[this.#at];
  }
}

function unclosed(character: string, at: number): Stop {
  return new Stop(
    `the '${character}' at character ${at + 1} is not closed`,
    `'\\${character}' is the character itself`,
  );
}

function instead(character: string): string {
  return `use --include and --exclude, or {a,b}; '\\${character}' is the character itself`;
}
