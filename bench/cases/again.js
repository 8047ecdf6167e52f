// Runs over existing files, and long inputs, as a mirror has them every day.
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ACCESSION, commands, JOBS, KEY } from '../commands.js';
import { names } from '../material.js';
import { allowed, megabytes } from '../rows.js';
import { startArchive } from '../servers.js';
import { nothing } from './start.js';

const present = {
  what: ({ present }) => `a second run over ${present} named files, against 1.5 x \`node -e 0\` + 30 us a file`,
  measure: async (context) => {
    const { out, fresh } = commands(context);
    const place = join(out, ACCESSION);
    const files = names(context.sizes.present);
    const input = join(context.folder, 'present.txt');
    await writeFile(input, files.map((name) => `${ACCESSION} ${name}\n`).join(''));
    await fresh();
    await mkdir(place);
    for (const name of files) await writeFile(join(place, name), 'x');
    const own = ['download', '-i', input, '-d', out, '-j', JOBS];
    const argv = [...context.filings, ...own, '--base-url', context.url, '--api-key', KEY];
    const runs = await context.bench.pairs({ argv }, nothing, context.sizes.longPairs);
    return allowed(runs, 30e-6 * files.length);
  },
};

const done = {
  what: ({ present }) =>
    `a second run over ${present} filings of \`--done\`, against 1.5 x \`node -e 0\` + 10 us a filing`,
  slow: true,
  measure: async (context) => {
    const { present } = context.sizes;
    const { out, fresh } = commands(context);
    const server = await startArchive({ each: 1, bytes: 100, latencyMs: 0 });
    try {
      const input = join(context.folder, 'done.txt');
      const list = join(context.folder, 'done.list');
      await writeFile(input, Array.from({ length: present }, (_, filing) => `${server.accession(filing)}\n`).join(''));
      const own = ['download', '-i', input, '--all', '--done', list, '-d', out, '-j', JOBS];
      const argv = [...context.filings, ...own, '--base-url', server.url, '--api-key', KEY];
      await rm(list, { force: true });
      await context.bench.time({ argv, before: fresh });
      return allowed(await context.bench.pairs({ argv }, nothing, context.sizes.longPairs), 10e-6 * present);
    } finally {
      await server.stop();
    }
  },
};

const million = {
  what: ({ lines }) => `peak memory of an input with ${lines} file names`,
  slow: true,
  measure: async (context) => {
    const { lines } = context.sizes;
    const input = join(context.folder, 'lines.in');
    await pipeline(function* () {
      for (let at = 0; at < lines; at += 1) yield `${ACCESSION} f${at}.htm\n`;
    }, createWriteStream(input));
    const own = ['download', '-i', input, '-n', '-q', '--base-url', context.url, '--api-key', KEY];
    const most = await context.bench.peak({ argv: [...context.filings, ...own] });
    const bound = 120e6 + 150 * lines;
    return { ours: megabytes(most), figure: megabytes(most), bound: `<= ${megabytes(bound)}`, within: most <= bound };
  },
};

export const AGAIN = [present, done, million];
