import { AssertionError } from 'node:assert';
import type { Internet } from './internet.ts';
import type { Machine } from './machine.ts';
import type { Process } from './process.ts';
import { current, type Scheduler } from './scheduler.ts';

/** What the driven modules work on: the schedule that is played now. */
interface Stage {
  readonly scheduler: Scheduler;
  readonly internet: Internet;
  readonly machine: Machine;
  /** The processes that run now. */
  readonly running: ReadonlySet<number>;
  /** What a process did to the part of another that runs. */
  readonly trespasses: string[];
}

let played: Stage | undefined;

export function enter(stage: Stage): void {
  played = stage;
}

export function stage(): Stage {
  if (!played) throw new AssertionError({ message: 'no schedule is played' });
  return played;
}

/** The process that runs now. */
export function acting(): Process {
  const process = current.getStore();
  if (!process) throw new AssertionError({ message: 'code of the program ran without a process' });
  return process;
}
