// Searches for a sequence of interrupted responses after which a resumed file is a mixture of two versions.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { rangeStart } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { byFilings } from './by-filings.ts';
import { partBytes, representation, STORY, type Story, soundBytes } from './story.ts';

/** Tries stories until one breaks the rule. Returns the shrunk story. `path` repeats a failure. */
export async function searchStories(seed: number, run: { numRuns: number; path?: string }) {
  const counts = { stories: 0, requests: 0, ranged: 0, runs: 0 };
  let why = '';
  const obeys = async (story: Story) => {
    const { fault, requests, ranged, runs } = await retell(story);
    counts.stories += 1;
    counts.requests += requests;
    counts.ranged += ranged;
    counts.runs += runs;
    if (fault) why = fault;
    return fault === undefined;
  };
  const checked = await fc.check(fc.asyncProperty(STORY, obeys), { seed, ...run });
  if (!checked.failed) return { counts, found: undefined };
  const command = `node scripts/hostile-answers.js --stories --seed ${seed} --path ${checked.counterexamplePath}`;
  return { counts, found: `${why}\n${JSON.stringify(checked.counterexample?.[0])}\n${command}` };
}

/**
 * Runs the program with a story's service until it succeeds. The rule: the file then has the bytes of one version, no
 * file exists before, and the program succeeds when the service answers correctly.
 */
async function retell(story: Story) {
  const directory = await mkdtemp(join(tmpdir(), 'filings-story-'));
  const server = await startScripted(async (socket, request) => {
    const part = story.parts[request.index];
    const start = rangeStart(request);
    const bytes = part
      ? partBytes(story.service, part, start)
      : soundBytes(story.service, start, request.headers['if-range']);
    await new Promise((sent) => socket.write(bytes, sent));
    if (part && part.ending !== 'FIN') await wait(2);
    if (part?.ending === 'RST') socket.resetAndDestroy();
    else socket.end();
  });
  try {
    const { fault, runs } = await untilSaved(story, server.url, directory);
    const { requests } = server;
    return { fault, runs, requests: requests.length, ranged: requests.filter(({ headers }) => headers.range).length };
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function untilSaved({ service, parts, retries }: Story, url: string, directory: string) {
  const wholes = [representation(service, 'A'), representation(service, 'B')];
  // Each run sends at least one request, so that the run after the last part gets correct responses.
  for (let runs = 1; runs <= parts.length + 1; runs += 1) {
    const { exit, code, words, bytes } = await byFilings(url, 'f', directory, retries);
    if (exit === 0) {
      const whole = bytes !== undefined && wholes.some((one) => one.equals(bytes));
      return { runs, fault: whole ? undefined : `a mixture of ${bytes?.length} bytes` };
    }
    if (bytes) return { runs, fault: `exit ${exit}, and yet there is a file` };
    if (!['integrity', 'temporary', 'rejected'].includes(code)) return { runs, fault: `${code}: ${words}` };
  }
  return { runs: parts.length + 1, fault: 'it does not succeed though the service answers well' };
}
