// Searches for a response that breaks the rule of judge.ts, and shrinks it.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { EXCHANGE } from './arbitrary.ts';
import { byCurl, type CurlVerdict } from './by-curl.ts';
import { byFilings, type OurVerdict } from './by-filings.ts';
import { type Judgement, judge } from './judge.ts';
import type { Exchange, RawAnswer } from './raw-answer.ts';
import { startStage } from './stage.ts';
import { trusted } from './trusted.ts';

/** Number of exchanges that share a directory and a process of curl. */
const BATCH = 200;
/** Number of concurrent runs of `filings`, some of which wait for the end of a connection. */
const LANES = 4;

/** Number of exchanges by judgement. */
export type Counts = Map<string, number>;

/**
 * Judges arbitrary exchanges until one breaks the rule. Returns the shrunk exchange as `found`, with a command that
 * repeats it.
 */
export async function search(seed: number, answers: number, onBatch?: (counts: Counts) => void) {
  const counts: Counts = new Map();
  for (let done = 0; done < answers; done += BATCH) {
    // Each batch has its own seed, so that it can be repeated alone.
    const batch = { seed: seed + done / BATCH, numRuns: Math.min(BATCH, answers - done) };
    const exchanges = fc.sample(EXCHANGE, batch);
    for (const [index, { name, fault }] of (await judged(exchanges, batch.seed)).entries()) {
      if (fault !== undefined) {
        const once = () => faultText(`${fault} (once, and not again)`, exchanges[index], batch.seed, `${index}`);
        return { counts, found: (await shrunk(batch.seed, `${index}`)) ?? once() };
      }
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    onBatch?.(counts);
  }
  return { counts, found: undefined };
}

/**
 * Returns the smallest exchange that breaks the rule, found from the one at `path`, or undefined if that one obeys the
 * rule.
 */
export async function shrunk(seed: number, path: string): Promise<string | undefined> {
  let why = '';
  const obeys = async (exchange: Exchange) => {
    const [judgement] = await judged([exchange], seed);
    why = judgement?.fault ?? why;
    return judgement?.fault === undefined;
  };
  const checked = await fc.check(fc.asyncProperty(EXCHANGE, obeys), { seed, path, numRuns: 1 });
  return checked.failed
    ? faultText(why, checked.counterexample?.[0], seed, checked.counterexamplePath ?? path)
    : undefined;
}

/** The fault, the exchange, and the command that repeats it. */
function faultText(why: string, exchange: Exchange | undefined, seed: number, path: string): string {
  return `${why}\n${JSON.stringify(exchange)}\nnode scripts/hostile-answers.js --seed ${seed} --path ${path}`;
}

/**
 * Downloads the exchanges with curl and with `filings`, each as a file of its own. A third of the batches use TLS, of
 * either version, depending on the seed, so that a batch can be repeated.
 */
async function judged(wanted: readonly Exchange[], seed: number): Promise<Judgement[]> {
  const version = ([undefined, 'TLSv1.3', undefined, undefined, 'TLSv1.2', undefined] as const)[seed % 6];
  const exchanges = version === undefined ? wanted.map((exchange) => exchange.map(withoutTls)) : wanted;
  const stage = await startStage(version && trusted(version));
  const directory = await mkdtemp(join(tmpdir(), 'filings-hostile-'));
  try {
    for (const [index, exchange] of exchanges.entries()) stage.put(`f${index}`, exchange);
    const names = exchanges.map((_, index) => `f${index}`);
    const places = { curls: join(directory, 'curls'), ours: join(directory, 'ours') };
    await Promise.all(Object.values(places).map((place) => mkdir(place)));
    const [curls, ours] = await Promise.all([byCurl(stage, names, places.curls), byUs(stage.url, names, places.ours)]);
    return exchanges.map((exchange, index) => judge(exchange, curls[index] as CurlVerdict, ours[index] as OurVerdict));
  } finally {
    await stage.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Without TLS, `cut` is the same as FIN. */
function withoutTls(answer: RawAnswer): RawAnswer {
  return answer.ending === 'cut' ? { ...answer, ending: 'FIN' } : answer;
}

async function byUs(url: string, names: readonly string[], directory: string): Promise<OurVerdict[]> {
  const verdicts: OurVerdict[] = [];
  const left = names.entries();
  const lane = async () => {
    for (const [index, name] of left) verdicts[index] = await byFilings(url, name, directory);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return verdicts;
}
