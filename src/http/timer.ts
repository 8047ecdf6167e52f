/** A timer that fires this much later than it should: the process was stopped, or the machine slept. */
const STOPPED_MS = 1000;

/**
 * Calls back after `ms` milliseconds in which this program could have seen something happen; gives what stops it. A
 * timer that fires late proves nothing, since nobody was awake to wait: it begins anew. And what had come by then is
 * read before the verdict: after a stop timers have their turn before sockets.
 */
export function startTimer(ms: number, now: () => number, onTime: () => void): () => void {
  let timer: NodeJS.Timeout;
  let turn: NodeJS.Immediate | undefined;
  const arm = () => {
    const due = now() + ms;
    timer = setTimeout(() => {
      if (now() - due >= STOPPED_MS) arm();
      else turn = setImmediate(onTime);
    }, ms);
  };
  arm();
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
