import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workplace } from '../cli/program.ts';
import { accession, startArchive } from '../servers/archive.ts';

const LINES = 1_000_000;
/** Milliseconds. */
const PATIENCE = 300_000;
/** Tells the most memory that a process held, in KiB, when it ends: `getrusage` would count that of the test, which forked it. */
const TELLS_MEMORY = `import { readFileSync } from 'node:fs';
process.on('exit', () => process._rawDebug('peak', /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]));`;

it.each([
  ['of a million filings', (at: number) => `${accession(at)} R${at}.htm\n`],
  [
    'with long names of a thousand filings',
    (at: number) => `${accession(at % 1000)} exhibit-with-a-longer-name-${at}.htm\n`,
  ],
])('a million file names %s take no more than 150 bytes each beyond 120 MB', { timeout: PATIENCE }, async (_, line) => {
  const archive = await startArchive({});
  const place = await workplace();
  await writeFile(join(place.path, 'in'), Array.from({ length: LINES }, (_each, at) => line(at)).join(''));
  await writeFile(join(place.path, 'peak.mjs'), TELLS_MEMORY);
  const env = { ...archive.env, NODE_OPTIONS: `--import ${join(place.path, 'peak.mjs')}` };
  const { exitCode, stderr } = await place.filings(['download', '-i', 'in', '-q', '-n'], env, { timeout: PATIENCE });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^peak \d+\n$/) });
  const peak = Number(stderr.split(' ')[1]) * 1024;
  process.stdout.write(`peak memory: ${peak} bytes\n`);
  expect(peak).toBeLessThan(120_000_000 + 150 * LINES);
  expect(archive.asked()).toEqual([]);
});
