// Formats the results for a terminal and for bench/RESULTS.md.
import { spawnSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

const HEADINGS = ['what', 'ours', 'other', 'figure', 'spread', 'bound', ''];

/** A Markdown table that is also readable as text. */
export function table(rows) {
  const cells = rows.map(({ what, ours, peer, figure, spread, bound, within }) => [
    what,
    ours ?? '',
    peer ?? '',
    figure ?? '',
    spread ?? '',
    bound ?? '',
    within === undefined ? '' : within ? 'ok' : 'over',
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(3, heading.length, ...cells.map((row) => [...row[column]].length)),
  );
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(HEADINGS), rule, ...cells.map(line)].join('\n');
}

/** Returns the first line of a program's version output, or undefined if the program is not installed. */
export function versionOf(program, ...args) {
  const { error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  return error ? undefined : `${stdout}${stderr}`.trim().split('\n')[0];
}

/** The page with the results, the machine, the versions and the date. */
export function page(rows, { sizes, version, peers }) {
  const [cpu] = cpus();
  const installed = Object.entries(peers).map(([name, found]) => `- ${found ?? `${name}: not installed, so left out`}`);
  return `# Benchmark

Made by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}.

- ${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, ${(totalmem() / 1e9).toFixed(0)} GB of memory, ${type()} ${release()}
- filings ${version}, Node ${process.version}
${installed.join('\n')}

${table(rows)}

Two commands run in turn, A B A B, after one run of each that does not count: ${sizes.longPairs} pairs, ${sizes.shortPairs} for short
runs and ${sizes.memoryRuns} for very long ones. Times are medians of wall time, including the start of the process. The figure is the
median of the ratios of the pairs, and the spread is their minimum and maximum. Memory is the peak of resident memory,
the median of ${sizes.memoryRuns} runs; "other" is then the small case. Files come from nginx on the loopback interface, out of its page
cache. Files with latency, and the one that is cut, come from servers of the benchmark. filings flushes every file and
directory to disk; \`curl -Z\`, aria2c and the loop flush none.

The load average of the last 15 minutes was ${loadavg()[2].toFixed(1)} at the end. The benchmark itself causes 1 to 2 of it, and other
work on the same machine the rest, which makes all results noisy. Compare figures with figures, not times with times.
`;
}
