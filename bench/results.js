// Turns measurements into rows of figure, bound and verdict, and formats them for a terminal and for bench/RESULTS.md.
import { spawnSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { median } from './measure.js';

const HEADINGS = ['what', 'ours', 'other', 'figure', 'spread', 'bound', ''];
const seconds = (value) => (value < 1 ? `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms` : `${value.toFixed(2)} s`);
export const megabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;

/** A row that compares two times. */
export function ratio({ ours, peer, ratio: figure, least, most }, bound) {
  return {
    ours: seconds(ours),
    peer: seconds(peer),
    figure: `${figure.toFixed(2)} x`,
    spread: `${least.toFixed(2)} to ${most.toFixed(2)}`,
    bound: `<= ${bound} x`,
    within: figure <= bound,
  };
}

/** A row that compares our time with the allowed time: 1.5 times the start of Node, and `more` seconds. */
export function allowed(runs, more) {
  const peer = 1.5 * runs.peer + more;
  const share = runs.ours / peer / runs.ratio;
  return ratio({ ...runs, peer, ratio: runs.ours / peer, least: runs.least * share, most: runs.most * share }, 1);
}

/** A row with the peak memory of the larger command, next to that of the smaller one. */
export async function memory({ bench, sizes }, bound, large, small) {
  const peaks = { large: [], small: [] };
  for (let run = 0; run < sizes.memoryRuns; run += 1) {
    peaks.large.push(await bench.peak(large));
    peaks.small.push(await bench.peak(small));
  }
  const [most, least] = [median(peaks.large), median(peaks.small)];
  return {
    ours: megabytes(most),
    peer: megabytes(least),
    figure: `${most < least ? '' : '+'}${megabytes(most - least)}`,
    spread: `${megabytes(Math.min(...peaks.large))} to ${megabytes(Math.max(...peaks.large))}`,
    bound: `<= ${megabytes(bound)}`,
    within: most <= bound,
  };
}

/** A Markdown table that is also readable as text. */
export function table(rows) {
  const verdict = (within) => (within === undefined ? '' : within ? 'ok' : 'over');
  const cells = rows.map(({ what, ours, peer, figure, spread, bound, within }) =>
    [what, ours, peer, figure, spread, bound, verdict(within)].map((cell) => cell ?? ''),
  );
  const widths = HEADINGS.map((heading, column) =>
    Math.max(3, heading.length, ...cells.map((row) => [...row[column]].length)),
  );
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
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
- filings ${version}, Node ${process.version}; Node 22 for the starts and for one file
${installed.join('\n')}

${table(rows)}

Two commands run in turn, A B A B, after one run of each that is not counted: ${sizes.longPairs} pairs, or ${sizes.shortPairs} where a run is
short. Times are medians of wall time and include the start of the process. The figure is the median of the ratios of the
pairs, and the spread is their minimum and maximum. Memory is the peak of resident memory, the median of ${sizes.memoryRuns} runs; "other"
is then the small case. Files come from nginx on the loopback interface, out of its page cache. Files with latency, and the
one that is cut, come from servers of the benchmark. filings and Node's least flush every file and directory to disk. curl
flushes nothing, so \`sync\` flushes its files. aria2c and the loop flush nothing.

The load average of the last 15 minutes was ${loadavg()[2].toFixed(1)} at the end. The benchmark itself causes 1 to 2 of it. Other work on
the same machine makes all results noisy, so compare ratios, not times.
`;
}
