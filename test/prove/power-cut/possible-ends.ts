import { ALL, crashTree, type Tree } from './crash-state.ts';
import { isWrite, Replay } from './replay.ts';
import { type Call, textsOf } from './strace-log.ts';

/** More than these are hardly under way at once when a process is killed, but for flushes. */
const MOST_LOST = 6;
/** A number that no other open file has. */
const DESCRIPTOR = 1_000_000;
const CHANGING = ['open', 'openat', 'ftruncate', 'mkdir', 'unlink', 'rmdir', 'link', 'rename'];

/**
 * What may stand behind runs: a call that never returned, since its process was killed in it, has had its effect or has
 * not. That none has is first.
 */
export function* possibleEnds(path: string, old: Tree, runs: readonly (readonly Call[])[]): Generator<Tree> {
  const lost = runs.flat().filter(isLost).slice(0, MOST_LOST);
  for (let choice = 0; choice < 2 ** lost.length; choice += 1) {
    const done = new Set(lost.filter((_, at) => choice & (1 << at)));
    const replay = new Replay(path, old);
    for (const calls of runs) {
      const ended = calls.map((call) => (done.has(call) ? { ...call, result: effectOf(call) } : call));
      replay.run(ended, () => {});
    }
    yield crashTree(replay.root, ALL);
  }
}

function isLost(call: Call): boolean {
  return call.result === undefined && (isWrite(call) || CHANGING.includes(call.name));
}

function effectOf(call: Call): number {
  if (isWrite(call)) return Buffer.concat(textsOf(call)).length;
  return call.name.startsWith('open') ? DESCRIPTOR : 0;
}
