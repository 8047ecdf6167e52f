import { type CharacterTest, type GlobFault, type GlobPart, readGlob } from './syntax.ts';

export type { GlobFault } from './syntax.ts';

/** A state of the automaton: it takes a character, or any number of them, or is passed on from at once. */
type State =
  | { readonly kind: 'one'; readonly test: CharacterTest; readonly next: number }
  | { readonly kind: 'any'; readonly next: number }
  | { readonly kind: 'fork'; readonly next: readonly number[] }
  | { readonly kind: 'end' };

/**
 * What tells whether a whole name matches a glob, or what is wrong with the glob. All ways through the
 * glob are gone at once, as a set of states: the time is at most the name's length times the glob's.
 */
export function compileGlob(glob: string): ((name: string) => boolean) | GlobFault {
  const parts = readGlob(glob);
  if ('reason' in parts) return parts;
  const states: State[] = [{ kind: 'end' }];
  const first = compile(parts, 0, states);
  return (name) => new Run(states, first).takes(name);
}

/** Adds the states of a sequence that is followed by `next`; gives its first one. */
function compile(parts: readonly GlobPart[], next: number, states: State[]): number {
  return parts.reduceRight((following, part) => states.push(stateOf(part, following, states)) - 1, next);
}

function stateOf(part: GlobPart, next: number, states: State[]): State {
  if (part === 'any') return { kind: 'any', next };
  if (typeof part === 'function') return { kind: 'one', test: part, next };
  return { kind: 'fork', next: part.map((choice) => compile(choice, next, states)) };
}

/** One name against the states. */
class Run {
  readonly #states: readonly State[];
  /** For each state, the step in which it was entered last. */
  readonly #entered: Int32Array;
  readonly #first: number;
  #step = 0;
  #current: number[] = [];

  constructor(states: readonly State[], first: number) {
    this.#states = states;
    this.#entered = new Int32Array(states.length).fill(-1);
    this.#first = first;
  }

  takes(name: string): boolean {
    this.#enter(this.#first);
    for (const character of name) {
      const before = this.#current;
      if (before.length === 0) return false;
      this.#current = [];
      this.#step += 1;
      const point = character.codePointAt(0) ?? 0;
      for (const index of before) this.#advance(index, point);
    }
    return this.#current.some((index) => this.#states[index]?.kind === 'end');
  }

  #advance(index: number, point: number): void {
    const state = this.#states[index] as State;
    if (state.kind === 'any') this.#enter(index);
    else if (state.kind === 'one' && state.test(point)) this.#enter(state.next);
  }

  #enter(first: number): void {
    const waiting = [first];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (this.#entered[index] === this.#step) continue;
      this.#entered[index] = this.#step;
      const state = this.#states[index] as State;
      if (state.kind === 'fork') waiting.push(...state.next);
      else this.#current.push(index);
      if (state.kind === 'any') waiting.push(state.next);
    }
  }
}
