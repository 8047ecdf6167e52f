import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureVersion } from 'node:tls';
import fc from 'fast-check';
import { EXCHANGE } from './arbitrary.ts';
import { byCurl } from './by-curl.ts';
import { byFilings, type OurVerdict } from './by-filings.ts';
import { type Judgement, judge, nameOf } from './judge.ts';
import type { Exchange, RawAnswer } from './raw-answer.ts';
import { type Stage, startStage } from './stage.ts';
import { trusted } from './trusted.ts';

/** Answers for which one directory, and one process of curl, is enough. */
const BATCH = 200;
/** How many of ours run at once: some wait for the end of a connection. */
const LANES = 4;

/** An exchange that breaks the rule, and what makes it again. */
export interface Found {
  readonly seed: number;
  readonly path: string;
  readonly why: string;
  readonly exchange: Exchange;
}

/** The command that has it again. */
export const replay = ({ seed, path }: Found) => `node scripts/hostile-answers.js --seed ${seed} --path ${path}`;

/** How many exchanges there were of each judgement. */
export type Counts = Map<string, number>;

/** Makes exchanges and judges them, until one breaks the rule, which is then shrunk. */
export async function search(seed: number, answers: number, onBatch?: (counts: Counts) => void) {
  const counts: Counts = new Map();
  for (let done = 0; done < answers; done += BATCH) {
    // Each batch has a seed of its own, so that none needs those before it.
    const batch = { seed: seed + done / BATCH, numRuns: Math.min(BATCH, answers - done) };
    const exchanges = fc.sample(EXCHANGE, batch);
    const judgements = await judged(exchanges, wayOf(batch.seed));
    for (const [index, judgement] of judgements.entries()) {
      if (judgement.kind === 'fault') {
        const once = { seed: batch.seed, path: `${index}`, why: `${judgement.why} (once, and not again)` };
        const found = (await shrunk(once.seed, once.path)) ?? { ...once, exchange: exchanges[index] ?? [] };
        return { counts, found, answers: done + index + 1 };
      }
      const name = nameOf(judgement);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    onBatch?.(counts);
  }
  return { counts, found: undefined, answers };
}

/** The smallest exchange that breaks the rule, on the way from the one of this path; undefined where that obeys it. */
export async function shrunk(seed: number, path: string): Promise<Found | undefined> {
  let why = '';
  const obeys = async (exchange: Exchange) => {
    const [judgement] = await judged([exchange], wayOf(seed));
    if (judgement?.kind === 'fault') why = judgement.why;
    return judgement?.kind !== 'fault';
  };
  const checked = await fc.check(fc.asyncProperty(EXCHANGE, obeys), { seed, path, numRuns: 1 });
  if (!checked.failed) return undefined;
  return { seed, path: checked.counterexamplePath ?? path, why, exchange: checked.counterexample?.[0] ?? [] };
}

/** How exchanges are asked for. */
export type Way = 'plain' | SecureVersion;

/** A batch in three goes over TLS, of either version; by its seed, so that it can be had again. */
function wayOf(seed: number): Way {
  return (['plain', 'TLSv1.3', 'plain', 'plain', 'TLSv1.2', 'plain'] as const)[seed % 6] ?? 'plain';
}

/** Lets curl and us fetch the same exchanges, each as a file of its own. */
export async function judged(wanted: readonly Exchange[], way: Way): Promise<Judgement[]> {
  const exchanges = way === 'plain' ? wanted.map((exchange) => exchange.map(withoutTls)) : wanted;
  const stage = await startStage(way === 'plain' ? undefined : trusted(way));
  const directory = await mkdtemp(join(tmpdir(), 'filings-hostile-'));
  try {
    const names = exchanges.map((exchange, index) => {
      stage.put(`f${index}`, exchange);
      return `f${index}`;
    });
    const places = { curls: join(directory, 'curls'), ours: join(directory, 'ours') };
    await Promise.all(Object.values(places).map((place) => mkdir(place)));
    const [curls, ours] = await Promise.all([byCurl(stage, names, places.curls), byUs(stage, names, places.ours)]);
    return exchanges.map((exchange, index) => judge(exchange, of(curls, index), of(ours, index)));
  } finally {
    await stage.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** In plain no end is less than another. */
function withoutTls(answer: RawAnswer): RawAnswer {
  return answer.ending === 'cut' ? { ...answer, ending: 'FIN' } : answer;
}

async function byUs(stage: Stage, names: readonly string[], directory: string): Promise<OurVerdict[]> {
  const verdicts: OurVerdict[] = [];
  const left = names.entries();
  const lane = async () => {
    for (const [index, name] of left) verdicts[index] = await byFilings(stage.url, name, directory);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return verdicts;
}

function of<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) throw new Error(`no verdict on exchange ${index}`);
  return one;
}
