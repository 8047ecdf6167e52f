// Compares the program with minimal Node scripts (bench/least/), which do the same work without checks, retries and
// records. The difference is the cost of the program's own code.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ACCESSION, commands, JOBS, KEY, sh } from '../commands.js';
import { names } from '../material.js';
import { ratio } from '../rows.js';

const least = (script, ...args) => [process.execPath, join(import.meta.dirname, '../least', script), ...args];

const smallFiles = {
  what: ({ files }) => `${files} files of 20 kB, 16 jobs, against Node's least`,
  measure: async (context) => {
    const { batch, fresh, out, link } = commands(context);
    const files = names(context.sizes.files);
    const list = join(context.folder, 'names.txt');
    await writeFile(list, files.map((name) => `${name}\n`).join(''));
    const peer = { argv: least('small-files.js', link('NAME'), list, out, JOBS), before: fresh };
    return ratio(await context.bench.pairs(batch(files), peer, context.sizes.longPairs), 1.2);
  },
};

const largeFile = {
  what: ({ large }) => `${large / 2 ** 20} MiB to disk, against Node's least`,
  measure: async (context) => {
    const { ours, fresh, out, link } = commands(context);
    const peer = { argv: least('large-file.js', link('large.bin'), out), before: fresh };
    return ratio(await context.bench.pairs(ours('large.bin', '-d', out), peer, context.sizes.longPairs));
  },
};

const pipe = {
  what: ({ large }) => `${large / 2 ** 20} MiB to a pipe, against Node's least`,
  measure: async (context) => {
    const { ourPipe, link } = commands(context);
    const peer = { argv: sh('"$@" | cat > /dev/null', ...least('pipe.js', link('large.bin'))) };
    return ratio(await context.bench.pairs(ourPipe('large.bin'), peer, context.sizes.longPairs), 1.15);
  },
};

const dryRun = {
  what: ({ planned }) => `a dry run over ${planned} named lines, against Node's least, processor time`,
  measure: async (context) => {
    const { out, fresh } = commands(context);
    const input = join(context.folder, 'planned.txt');
    const report = join(context.folder, 'planned.jsonl');
    await writeFile(
      input,
      names(context.sizes.planned)
        .map((name) => `${ACCESSION} ${name}\n`)
        .join(''),
    );
    await fresh();
    const before = () => rm(report, { force: true });
    const own = ['download', '-i', input, '-n', '-q', '-d', out, '--report', report, '--base-url', context.url];
    const ours = { argv: [...context.filings, ...own, '--api-key', KEY], before };
    const peer = { argv: least('dry-run.js', input, out, report), before };
    return ratio(await context.bench.pairs(ours, peer, context.sizes.longPairs, 'processor'), 2.5);
  },
};

export const LEAST = [smallFiles, largeFile, pipe, dryRun];
