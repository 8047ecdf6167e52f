// Formats a measurement as a row of the table: figures, the bound, and whether it is met.
import { median } from './measure.js';

export const seconds = (value) => (value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(2)} s`);
export const megabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;

/** A row with a ratio. Without a bound it is not judged. */
export function ratio({ ours, peer, ratio: figure, least, most }, bound) {
  return {
    ours: seconds(ours),
    peer: seconds(peer),
    figure: `${figure.toFixed(2)} x`,
    ...(least === undefined ? {} : { spread: `${least.toFixed(2)} to ${most.toFixed(2)}` }),
    ...(bound === undefined ? {} : { bound: `<= ${bound} x`, within: figure <= bound }),
  };
}

/** A row that compares times with the allowed time: 1.5 times the start of Node, and `more` seconds. */
export function allowed(runs, more) {
  const peer = 1.5 * runs.peer + more;
  const share = runs.ours / peer / runs.ratio;
  const spread = { least: runs.least * share, most: runs.most * share };
  return ratio({ ours: runs.ours, peer, ratio: runs.ours / peer, ...spread }, 1);
}

/** A row with the peak memory of the larger command in MB, beside that of the smaller one. */
export async function memory({ bench, sizes }, large, small, bound) {
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
