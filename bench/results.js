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

Two commands run in turn, A B A B, after one run of each that does not count: ${sizes.longPairs} pairs, ${sizes.shortPairs} where a run is
short, ${sizes.memoryRuns} where it is very long. Times are medians of wall time, process start included; the figure is the median of the pairs' ratios,
the spread their least and most. Memory is
the high-water mark of resident memory, the median of ${sizes.memoryRuns} runs; "other" is then the small case. Files come from nginx on
the loopback interface, out of its page cache; those with latency, and the one that is cut, from servers of the
benchmark's own. Ours flushes every file and directory to disk; \`curl -Z\`, aria2c and the loop flush none.

The load average of the last 15 minutes was ${loadavg()[2].toFixed(1)} at the end; the benchmark itself makes 1 to 2 of it, the rest is other
work on the same machine, which makes all of this noisy. Compare figures with figures, not times with times.
`;
}
