// Samples the memory and the descriptors of a process every few seconds. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Samples a process until it ends or `stop` is called: seconds since the start, resident bytes, open descriptors, and
 * the result of `progress()`.
 */
export function sampled(pid, everyMs, progress) {
  const samples = [];
  const started = performance.now();
  const takeSample = () => {
    try {
      const rss = 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      const descriptors = readdirSync(`/proc/${pid}/fd`).length;
      // An ended process that was not waited for has no memory.
      if (rss > 0) samples.push({ at: (performance.now() - started) / 1000, rss, descriptors, answers: progress() });
    } catch (error) {
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  };
  const timer = setInterval(takeSample, everyMs);
  return { samples, stop: () => clearInterval(timer) };
}
