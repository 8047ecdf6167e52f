import { setFlagsFromString } from 'node:v8';

/** V8's own. */
const GROWTH = 2;

/**
 * The heap's young generation. It doubles as a run goes on, up to 32 MB; where files are fetched, what fills it is garbage.
 * A run that only passes over what is there is quicker by a tenth with the room, so it keeps that.
 */
export class YoungHeap {
  #kept = false;

  /** Keeps it as it is now, some 8 MB. May be called again. */
  keep(): void {
    if (!this.#kept) setGrowth(1);
    this.#kept = true;
  }

  /** Takes that back: the code that a run compiled is kept under V8's own options alone (bin/compiled.js). */
  release(): void {
    if (this.#kept) setGrowth(GROWTH);
    this.#kept = false;
  }
}

function setGrowth(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
