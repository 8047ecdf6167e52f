// Runs commands and measures wall time, processor time and the peak of resident memory.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds between two reads of a process's peak memory. */
const POLL_MS = 4;

/** Runs commands. A command has `argv`, and optionally `env` and `before`, which prepares a run and is not measured. */
export class Bench {
  #folder;
  #env;

  /** Commands run in `folder`. Of the caller's environment they get only PATH. */
  constructor(folder, env) {
    this.#folder = folder;
    this.#env = { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, ...env };
  }

  /** Returns seconds of wall time. Throws if the command fails. */
  async time({ argv, before, env }) {
    await before?.();
    const started = process.hrtime.bigint();
    await this.#spawned({ argv, env });
    return Number(process.hrtime.bigint() - started) / 1e9;
  }

  /**
   * Returns seconds of processor time, user and system. The second line of the shell's `times` has those of its
   * children.
   */
  async processor({ argv, before, env }) {
    await before?.();
    const log = join(this.#folder, 'times.log');
    const script = 'log=$1; shift; "$@"; status=$?; times > "$log"; exit $status';
    await this.#spawned({ argv: ['sh', '-c', script, 'sh', log, ...argv], env });
    const [, children = ''] = readFileSync(log, 'utf8').split('\n');
    const each = [...children.matchAll(/(\d+)m([\d.]+)s/g)].map(
      ([, minutes, rest]) => 60 * Number(minutes) + Number(rest),
    );
    return each[0] + each[1];
  }

  /**
   * Returns the peak of resident memory in bytes: VmHWM, which does not count the parent's memory as getrusage does.
   * Linux only.
   */
  async peak({ argv, before, env }) {
    await before?.();
    let most = 0;
    let timer;
    await this.#spawned({ argv, env }, (pid) => {
      timer = setInterval(() => {
        most = Math.max(most, highWaterMark(pid));
      }, POLL_MS);
    }).finally(() => clearInterval(timer));
    return most;
  }

  /**
   * Runs two commands in turn, A B A B, after one run of each that does not count. Returns the medians in seconds, and
   * the median, minimum and maximum of the ratios of the pairs, because lasting noise affects both runs of a pair.
   * `measure` is 'time' or 'processor'.
   */
  async pairs(ours, peer, count, measure = 'time') {
    await this[measure](ours);
    await this[measure](peer);
    const runs = [];
    for (let pair = 0; pair < count; pair += 1) runs.push([await this[measure](ours), await this[measure](peer)]);
    const ratios = runs.map(([a, b]) => a / b);
    return {
      ours: median(runs.map(([a]) => a)),
      peer: median(runs.map(([, b]) => b)),
      ratio: median(ratios),
      least: Math.min(...ratios),
      most: Math.max(...ratios),
    };
  }

  #spawned({ argv, env }, onPid) {
    const log = join(this.#folder, 'stderr.log');
    const stderr = openSync(log, 'w');
    return new Promise((resolve, reject) => {
      const [program, ...args] = argv;
      const child = spawn(program, args, {
        cwd: this.#folder,
        env: { ...this.#env, ...env },
        stdio: ['ignore', 'ignore', stderr],
      });
      if (child.pid !== undefined) onPid?.(child.pid);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`${argv.slice(0, 6).join(' ')} ...: ${code ?? signal}: ${tail(log)}`));
      });
    }).finally(() => closeSync(stderr));
  }
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function highWaterMark(pid) {
  try {
    return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function tail(path) {
  return readFileSync(path, 'utf8').slice(-300);
}
