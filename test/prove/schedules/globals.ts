import type { Timer } from './scheduler.ts';
import { stage } from './stage.ts';

/** What setTimeout gives: as much of it as is used. */
class Handle {
  readonly timer: Timer;
  constructor(timer: Timer) {
    this.timer = timer;
  }
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
  refresh = () => {
    stage().scheduler.restart(this.timer);
    return this;
  };
}

/** What setImmediate gives: one that is called off still has its turn, and does nothing in it. */
interface Turn {
  isDue: boolean;
}

type Act = (...args: unknown[]) => void;

/** Puts the schedule's clock in the place of the machine's. For good: this process plays schedules and does nothing else. */
export function takeClock(): void {
  const realImmediate = globalThis.setImmediate;
  const stop = (handle?: Handle) => handle && stage().scheduler.stop(handle.timer);
  const immediate = (act: Act, ...args: unknown[]) => {
    const { scheduler } = stage();
    const turn: Turn = { isDue: true };
    scheduler.turns += 1;
    realImmediate(() => {
      scheduler.turns -= 1;
      if (turn.isDue) act(...args);
    });
    return turn;
  };
  const stopImmediate = (turn?: Turn) => {
    if (turn) turn.isDue = false;
  };
  const timeout = (ms: number) => {
    const controller = new AbortController();
    stage().scheduler.start(ms, () => controller.abort(new DOMException('timed out', 'TimeoutError')));
    return controller.signal;
  };
  Object.assign(globalThis, {
    setTimeout: (act: Act, ms = 1, ...args: unknown[]) => new Handle(stage().scheduler.start(ms, () => act(...args))),
    setInterval: (act: Act, ms = 1, ...args: unknown[]) =>
      new Handle(stage().scheduler.start(ms, () => act(...args), ms)),
    clearTimeout: stop,
    clearInterval: stop,
    setImmediate: immediate,
    clearImmediate: stopImmediate,
  });
  Object.assign(AbortSignal, { timeout });
}
