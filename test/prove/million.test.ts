import { expect } from 'vitest';
import { test } from '../cli/program.ts';
import { accession, startArchive } from '../servers/archive.ts';

const LINES = 1_000_000;
/** Time limit, in milliseconds. */
const PATIENCE = { timeout: 300_000 };
/**
 * Prints the peak memory of the process in KiB when it ends. `getrusage` would include the test process, which forked
 * it.
 */
const PRINTS_PEAK_MEMORY = `import { readFileSync } from 'node:fs';
process.on('exit', () => process._rawDebug('peak', /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]));`;

test.for([
  { what: 'of a million filings', line: (at: number) => `${accession(at)} R${at}.htm\n` },
  { what: 'with long names', line: (at: number) => `${accession(at % 1000)} exhibit-with-a-longer-name-${at}.htm\n` },
])('a million file names $what take at most 250 bytes each beyond 120 MB', PATIENCE, async ({ line }, { place }) => {
  const archive = await startArchive({});
  await place.write('in', Array.from({ length: LINES }, (_, at) => line(at)).join(''));
  const hook = await place.write('peak.mjs', PRINTS_PEAK_MEMORY);
  const env = { ...archive.env, NODE_OPTIONS: `--import "${hook}"` };
  const { exitCode, stderr } = await place.filings(['download', '-i', 'in', '-q', '-n'], env, PATIENCE);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^peak \d+\n$/) });
  const peak = Number(stderr.split(' ')[1]) * 1024;
  process.stdout.write(`peak memory: ${peak} bytes\n`);
  expect(peak).toBeLessThan(120_000_000 + 250 * LINES);
  expect(archive.asked()).toEqual([]);
});
