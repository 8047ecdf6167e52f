// Decides from samples whether the memory and the descriptors of a run stay flat, except for the names of its files.

/** Part of the time in which pools fill. Only later samples are judged. */
const WARM_UP = 1 / 6;
/** V8's heap for a file name: a digest of 16 characters with its header (src/batch/name-check.ts). */
const DIGEST_BYTES = 32;
/** An entry of a Map: key, value, the next entry and half of a bucket, 8 bytes each. */
const ENTRY_BYTES = 28;
/** A growing Map doubles, so that up to half of its entries are empty. */
const BYTES_A_NAME = DIGEST_BYTES + 2 * ENTRY_BYTES;
/** Random variation of garbage collection. */
const RISE_BYTES = 10e6;
const PEAK_BYTES = 20e6;
const DESCRIPTORS = 2;

export const RULE = `After the first sixth of the time, a line fitted to the samples (least squares) rises by at most
${RISE_BYTES / 1e6} MB of resident memory, and ${BYTES_A_NAME} bytes for each file, and by at most ${DESCRIPTORS} descriptors; and no sample is more than
${PEAK_BYTES / 1e6} MB, and those bytes, above the most of the first sixth, nor more than ${DESCRIPTORS} descriptors above its most and one for each job.`;

/** `samples` are those of samples.js in order. `files` is their number in the archive. */
export function verdictOf(samples, { files, jobs }) {
  const end = samples.at(-1)?.at ?? 0;
  const warm = samples.filter(({ at }) => at <= end * WARM_UP);
  const rest = samples.filter(({ at }) => at > end * WARM_UP);
  if (warm.length < 2 || rest.length < 10) return { isFlat: false, why: [`${samples.length} samples are too few`] };
  const rise = { rss: riseOf(rest, 'rss'), descriptors: riseOf(rest, 'descriptors') };
  const most = { rss: mostOf(rest, 'rss'), descriptors: mostOf(rest, 'descriptors') };
  const before = { rss: mostOf(warm, 'rss'), descriptors: mostOf(warm, 'descriptors') };
  const names = BYTES_A_NAME * files;
  const why = [
    [rise.rss > RISE_BYTES + names, `memory rises by ${megabytes(rise.rss)}`],
    [most.rss > before.rss + PEAK_BYTES + names, `memory peaks ${megabytes(most.rss - before.rss)} higher`],
    [rise.descriptors > DESCRIPTORS, `descriptors rise by ${rise.descriptors.toFixed(1)}`],
    [most.descriptors > before.descriptors + DESCRIPTORS + jobs, `descriptors peak at ${most.descriptors}`],
  ];
  const wrong = why.filter(([isWrong]) => isWrong).map(([, text]) => text);
  return { isFlat: wrong.length === 0, why: wrong, rise, most, before };
}

const mostOf = (samples, what) => Math.max(...samples.map((sample) => sample[what]));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/** The rise of the fitted line from the first to the last sample. */
function riseOf(samples, what) {
  const mean = (of) => samples.reduce((sum, sample) => sum + sample[of], 0) / samples.length;
  const [at, level] = [mean('at'), mean(what)];
  let [over, under] = [0, 0];
  for (const sample of samples) {
    over += (sample.at - at) * (sample[what] - level);
    under += (sample.at - at) ** 2;
  }
  return under === 0 ? 0 : (over / under) * (samples.at(-1).at - samples[0].at);
}
