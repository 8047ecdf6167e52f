import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { archiveOf, type Filed } from './archive.ts';
import { chanceOf } from './chance.ts';
import { Internet } from './internet.ts';
import type { Plan, RunPlan } from './plan.ts';
import { Process } from './process.ts';
import { argumentsOf, type Setting, start } from './program.ts';
import { Scheduler } from './scheduler.ts';
import { Service } from './service.ts';
import { enter } from './stage.ts';

/** What is looked at once something has come to rest. */
export interface Scene {
  readonly plan: Plan;
  readonly files: readonly Filed[];
  readonly service: Service;
  readonly scheduler: Scheduler;
  /** Where it was played. */
  readonly place: string;
  /** All that have run by now. */
  readonly processes: readonly Process[];
  /** What a process did to the part of another that ran. */
  readonly trespasses: readonly string[];
}

/** Beyond all real ones. */
const FIRST_PID = 2 ** 22;
const UNDISTURBED: RunPlan = { blows: [], startsAfter: 0 };

/**
 * Plays a schedule: its waves one after the other, then one run that nobody disturbs. `look` is told of each wave when it is over, and
 * throws when something does not hold.
 */
export async function play(
  plan: Plan,
  below: string,
  look: (scene: Scene, wave: readonly Process[], isLast: boolean) => void,
  log?: (line: string) => void,
): Promise<Scene> {
  const place = mkdtempSync(join(below, 'schedule-'));
  try {
    return await playAt(plan, place, look, log);
  } finally {
    rmSync(place, { recursive: true });
  }
}

async function playAt(
  plan: Plan,
  place: string,
  look: (scene: Scene, wave: readonly Process[], isLast: boolean) => void,
  log: ((line: string) => void) | undefined,
): Promise<Scene> {
  const chance = chanceOf(plan.order);
  const scheduler = new Scheduler({ chance, lean: plan.lean, log });
  const files = archiveOf(plan);
  const service = new Service(plan, files, scheduler);
  let connects = 0;
  const welcome = () => (service.isCalm ? 'open' : (plan.connects[connects++] ?? 'open'));
  const [running, processes, trespasses]: [Set<number>, Process[], string[]] = [new Set(), [], []];
  enter({ scheduler, internet: new Internet(scheduler, service.serve, welcome), running, trespasses });
  const setting: Setting = { plan, scheduler, chance, place, running };
  const scene = { plan, files, service, scheduler, place, processes, trespasses };
  for (const [at, runs] of [...plan.waves, [UNDISTURBED]].entries()) {
    const isLast = at === plan.waves.length;
    service.isCalm = isLast;
    const wave = runs.map((run, nth) => launch(`run ${at}.${nth}`, run, processes, setting, isLast));
    await scheduler.play(() => wave.every(({ over }) => over));
    look(scene, wave, isLast);
  }
  return scene;

  function launch(name: string, run: RunPlan, all: Process[], within: Setting, isLast: boolean): Process {
    const pid = FIRST_PID + all.length;
    const process = new Process(name, pid, scheduler, run.blows, () => running.delete(pid));
    running.add(pid);
    all.push(process);
    // The last one has no limits of its own: it comes to the end.
    const free = { ratePerSecond: undefined, maxRequests: undefined, maxBytes: undefined, deadlineSeconds: undefined };
    const options = isLast ? { ...plan.options, ...free } : plan.options;
    void scheduler.sleep(run.startsAfter).then(() => {
      process.startedAt = scheduler.now;
      start(process, argumentsOf(name.replace(' ', ''), options), within);
    });
    return process;
  }
}
