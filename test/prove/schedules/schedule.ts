import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { archiveOf, type Filed } from './archive.ts';
import { chanceOf } from './chance.ts';
import { hasSums, leftovers } from './hold/disk.ts';
import { Internet } from './internet.ts';
import { Machine } from './machine.ts';
import type { Plan, RunPlan } from './plan.ts';
import { Process } from './process.ts';
import { argumentsOf, checkingArguments, pipingArguments, type Setting, start } from './program.ts';
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
const UNDISTURBED: RunPlan = { does: 'download', blows: [], startsAfter: 0 };
const LAST_CHECK: RunPlan = { ...UNDISTURBED, does: 'prune' };

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
  scheduler.aheadMs = plan.clock.ahead;
  const files = archiveOf(plan);
  const service = new Service(plan, files, scheduler);
  let connects = 0;
  const welcome = () => (service.isCalm ? 'open' : (plan.connects[connects++] ?? 'open'));
  const [running, processes, trespasses]: [Set<number>, Process[], string[]] = [new Set(), [], []];
  const machine = new Machine(scheduler);
  enter({ scheduler, internet: new Internet(scheduler, service.serve, welcome), machine, running, trespasses });
  const setting: Setting = { plan, scheduler, chance, place, running, machine };
  const scene = { plan, files, service, scheduler, place, processes, trespasses };
  const last = [[UNDISTURBED], ...(plan.options.checksums ? [[LAST_CHECK]] : [])];
  for (const [at, runs] of [...plan.waves, ...last].entries()) {
    const isLast = at >= plan.waves.length;
    service.isCalm = isLast;
    if (plan.reboots[at]) machine.reboot(leftovers(scene).map(({ path }) => path));
    const wave = runs.map((run, nth) => launch(`run ${at}.${nth}`, run, processes, setting, isLast));
    await scheduler.play(() => wave.every(({ over }) => over));
    look(scene, wave, isLast);
  }
  return scene;

  function launch(name: string, run: RunPlan, all: Process[], within: Setting, isLast: boolean): Process {
    const pid = FIRST_PID + all.length;
    const isCheck = run.does === 'verify' || run.does === 'prune';
    const does = isCheck && !plan.options.checksums ? 'download' : run.does;
    const piped = files[pid % files.length];
    const process = new Process(name, pid, scheduler, { ...run, does, piped }, () => running.delete(pid));
    running.add(pid);
    all.push(process);
    // The last one has no limits of its own: it comes to the end.
    const free = { ratePerSecond: undefined, maxRequests: undefined, maxBytes: undefined, deadlineSeconds: undefined };
    const options = isLast ? { ...plan.options, ...free } : plan.options;
    void scheduler.sleep(run.startsAfter).then(() => {
      process.startedAt = scheduler.now;
      process.hadSums = hasSums(scene);
      const args =
        does === 'download'
          ? argumentsOf(name.replace(' ', ''), options)
          : does === 'pipe' && piped
            ? pipingArguments(piped, options)
            : checkingArguments(does);
      start(process, args, within);
    });
    return process;
  }
}
