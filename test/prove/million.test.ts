import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { serviceAt, workplace } from '../cli/program.ts';
import { accession, startArchive } from '../servers/archive.ts';

const LINES = 1_000_000;
/** Milliseconds. */
const PATIENCE = 300_000;
/** Tells the most memory that a process held, in KiB, when it ends: `getrusage` would count that of the test, which forked it. */
const TELLS_MEMORY = `import { readFileSync } from 'node:fs';
process.on('exit', () => process._rawDebug('peak', /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]));`;

/** Runs the program over an input, and gives its peak memory in bytes. */
async function peakOf(lines: number, line: (at: number) => string, args: readonly string[], url: string) {
  const place = await workplace();
  await pipeline(
    function* () {
      for (let at = 0; at < lines; at += 1000) {
        yield Array.from({ length: Math.min(1000, lines - at) }, (_, n) => `${line(at + n)}\n`).join('');
      }
    },
    createWriteStream(join(place.path, 'in')),
  );
  await writeFile(join(place.path, 'peak.mjs'), TELLS_MEMORY);
  const env = { ...serviceAt(url), NODE_OPTIONS: `--import ${join(place.path, 'peak.mjs')}` };
  const command = ['download', '-i', 'in', '-q', ...args];
  const { exitCode, stderr } = await place.filings(command, env, { timeout: PATIENCE });
  const peak = Number(/peak (\d+)/.exec(stderr)?.[1]) * 1024;
  return { exitCode, peak, stderr: stderr.replace(/peak \d+\n/, ''), place };
}

it.each([
  ['of a million filings', (at: number) => `${accession(at)} R${at}.htm`],
  [
    'with long names of a thousand filings',
    (at: number) => `${accession(at % 1000)} exhibit-with-a-longer-name-${at}.htm`,
  ],
])('a million lines %s take no more than 150 bytes each beyond 120 MB', { timeout: PATIENCE }, async (_, line) => {
  const archive = await startArchive({});
  const { exitCode, stderr, peak } = await peakOf(LINES, line, ['-n'], archive.url);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  process.stdout.write(`peak memory: ${peak} bytes\n`);
  expect(peak).toBeLessThan(120_000_000 + 150 * LINES);
  expect(archive.asked()).toEqual([]);
});
