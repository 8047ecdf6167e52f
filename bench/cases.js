import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ACCESSION, curlAndSync, JOBS, least, overTls, peersOf, sh } from './commands.js';
import { EIGHTHS, makeSums, names, sumsOfMissing } from './material.js';
import { megabytes, memory } from './results.js';
import { startArchive, startCutting } from './servers.js';

const MIB = 2 ** 20;
const LATENCY_MS = 20;
const lines = (each) => each.map((line) => `${line}\n`).join('');

/** Compares a batch of small files with another program. */
const small = (bound, label, peer, needs = []) => ({
  what: ({ files }) => `${files} files of 20 kB, 16 jobs, against ${label}`,
  bound,
  needs,
  pair: async (context) => {
    const files = names(context.sizes.files);
    return [context.commands(context).batch(files), await peer(context, files)];
  },
});

const toDisk = (bound, label, at) => ({
  what: ({ large }) => `${large / MIB} MiB to disk${label}, flushed, against \`curl -o\` then \`sync FILE\``,
  bound,
  needs: ['curl', 'openssl'],
  pair: (context) => {
    const { ours, curlToDisk, out } = context.commands(at(context));
    return [ours('large.bin', '-d', out), curlToDisk('large.bin')];
  },
});

const toPipe = (bound, label, peer, at = (context) => context) => ({
  what: ({ large }) => `${large / MIB} MiB to a pipe${label}`,
  bound,
  needs: ['curl', 'openssl'],
  pair: (context) => {
    const commands = context.commands(at(context));
    return [commands.ourPipe('large.bin'), commands[peer]('large.bin')];
  },
});

/** Compares with the start of an empty script, on an official Node 22. */
const start = (bound, ...args) => ({
  what: `\`filings ${args.join(' ')}\` against \`node -e 0\``,
  bound,
  isShort: true,
  pair: ({ node22, program }) => [{ argv: [node22, program, ...args] }, { argv: [node22, '-e', '0'] }],
});

const oneFile = (bound, label, peer) => ({
  what: `\`filings download\` of one file of 20 kB against ${label}`,
  bound,
  isShort: true,
  pair: (context) => {
    const { ours, out, link, fresh } = context.commands({ ...context, filings: [context.node22, context.program] });
    const other = peer(context, { link, out });
    return [ours('f00000.htm', '-d', out), { argv: [context.node22, ...other], before: fresh }];
  },
});

const verify = (bound, sizeOf) => ({
  what: (sizes) => `\`verify\` of ${sizeOf(sizes).label}, against \`sha256sum -c\``,
  bound,
  needs: ['sha256sum'],
  pair: async ({ filings, folder, sizes }) => {
    const place = join(folder, 'sums');
    await makeSums(place, sizeOf(sizes));
    const peer = sh('cd "$1" && exec sha256sum --quiet -c SHA256SUMS', place);
    return [{ argv: [...filings, 'verify', place] }, { argv: peer }];
  },
});

/** Starts a service, measures against it, and stops it. */
async function against(server, use) {
  try {
    return await use(server);
  } finally {
    await server.stop();
  }
}

export const CASES = [
  small(1.15, "Node's least", async ({ commands, ...context }, files) => {
    const { fresh, out, link } = commands(context);
    const list = join(context.folder, 'names.txt');
    await writeFile(list, lines(files));
    return { argv: least('small-files.js', link('NAME'), list, out, JOBS), before: fresh };
  }),
  small(
    1.8,
    '`curl -Z --parallel-max 16`, then `sync` of the files',
    async (context, files) => (await peersOf(context, files)).curl,
    ['curl'],
  ),
  small(0.6, '`aria2c -j16`', async (context, files) => (await peersOf(context, files)).aria2c, ['aria2c']),
  small(0.2, 'a shell loop of one curl per file', async (context, files) => (await peersOf(context, files)).loop),
  {
    what: ({ files }) =>
      `${files} files of 20 kB, ${LATENCY_MS} ms before each answer, against \`curl -Z\`, then \`sync\``,
    needs: ['curl'],
    measure: async (context) =>
      against(await startArchive({ each: 1, bytes: 20_000, latencyMs: LATENCY_MS }), async ({ url }) => {
        const files = names(context.sizes.files);
        const slow = { ...context, url };
        return context.ratio(0.85, context.commands(slow).batch(files), (await peersOf(slow, files)).curl);
      }),
  },
  toDisk(0.7, '', (context) => context),
  toDisk(0.95, ' over TLS', overTls),
  toPipe(1.25, ', against curl', 'curlPipe'),
  toPipe(1.35, ", against Node's least", 'leastPipe'),
  toPipe(1, ' over TLS, against Node without checks', 'leastPipe', overTls),
  {
    what: ({ filings, files }) =>
      `${files} files chosen by glob from ${filings} listed filings, ${LATENCY_MS} ms before each answer, against \`curl -Z\` with known names, then \`sync\``,
    needs: ['curl'],
    measure: async (context) => {
      const { filings, files } = context.sizes;
      // Half of the listed files match.
      const archive = { each: (2 * files) / filings, bytes: 20_000, latencyMs: LATENCY_MS };
      return against(await startArchive(archive), async ({ url, names, accession }) => {
        const { fresh, out, run } = context.commands({ ...context, url });
        const numbers = Array.from({ length: filings }, (_, filing) => accession(filing));
        const input = join(context.folder, 'accessions.txt');
        await writeFile(input, lines(numbers));
        const chosen = numbers.flatMap((one) => names.filter((_, at) => at % 2 === 0).map((name) => [one, name]));
        const list = join(context.folder, 'listed.conf');
        const link = ([one, name]) => `${url}/v1/download?accession_no=${one}&file_name=${name}`;
        await writeFile(list, lines(chosen.map((file) => `url = "${link(file)}"\noutput = "${join(out, ...file)}"`)));
        const ours = run('-i', input, '--include', '*.htm', '-d', out, '-j', JOBS);
        return context.ratio(0.9, { ...ours, before: fresh }, { argv: curlAndSync(out, list), before: fresh });
      });
    },
  },
  {
    what: ({ files }) =>
      `${files / 2} files of 20 kB, one first answered with 429 (\`Retry-After: 1\`), 64 jobs against 4`,
    measure: async (context) => {
      const { files } = context.sizes;
      return against(await startArchive({ each: 1, bytes: 20_000, limitedAt: files / 40 }), ({ url, begin }) => {
        const { batch, fresh } = context.commands({ ...context, url });
        const withJobs = (jobs) => ({ ...batch(names(files / 2), '-j', jobs), before: () => begin(fresh()) });
        return context.ratio(1.2, withJobs('64'), withJobs('4'));
      });
    },
  },
  {
    what: ({ planned }) => `a dry run over ${planned} named lines, against Node's least, processor time`,
    bound: 2.5,
    by: 'processor',
    pair: async (context) => {
      const { out, fresh, run } = context.commands(context);
      const [input, report] = ['planned.txt', 'planned.jsonl'].map((name) => join(context.folder, name));
      await writeFile(input, lines(names(context.sizes.planned).map((name) => `${ACCESSION} ${name}`)));
      await fresh();
      const before = () => rm(report, { force: true });
      const ours = run('-i', input, '-n', '-q', '-d', out, '--report', report);
      return [
        { ...ours, before },
        { argv: least('dry-run.js', input, out, report), before },
      ];
    },
  },
  {
    what: ({ present }) => `a second run over ${present} named files, against 1.5 x \`node -e 0\` + 30 us per file`,
    measure: async (context) => {
      const { out, fresh, run } = context.commands(context);
      const files = names(context.sizes.present);
      const input = join(context.folder, 'present.txt');
      await writeFile(input, lines(files.map((name) => `${ACCESSION} ${name}`)));
      await fresh();
      await mkdir(join(out, ACCESSION));
      for (const name of files) await writeFile(join(out, ACCESSION, name), 'x');
      return context.allowed(30e-6 * files.length, run('-i', input, '-d', out, '-j', JOBS));
    },
  },
  {
    what: ({ present }) =>
      `a second run over ${present} filings of \`--done\`, against 1.5 x \`node -e 0\` + 15 us per filing`,
    slow: true,
    measure: async (context) =>
      against(await startArchive({ each: 1, bytes: 100 }), async ({ url, accession }) => {
        const { out, fresh, run } = context.commands({ ...context, url });
        const [input, list] = ['done.txt', 'done.list'].map((name) => join(context.folder, name));
        await writeFile(input, lines(Array.from({ length: context.sizes.present }, (_, filing) => accession(filing))));
        const again = run('-i', input, '--all', '--done', list, '-d', out, '-j', JOBS);
        await context.bench.time({ ...again, before: fresh });
        return context.allowed(15e-6 * context.sizes.present, again);
      }),
  },
  oneFile(3.8, '`node -e 0`', () => ['-e', '0']),
  oneFile(1.7, "Node's least", ({ oneFile }, { link, out }) => [oneFile, link('f00000.htm'), join(out, 'f00000.htm')]),
  start(1.7, '--version'),
  start(1.8, '--help'),
  start(1.9, '__complete', 'token', '--'),
  {
    what: ({ sparse }) => `peak memory of a ${sparse / MIB} MiB download, next to that of 20 kB`,
    measure: (context) => {
      const { ours, out } = context.commands(context);
      return memory(context, 90e6, ours('sparse.bin', '-d', out), ours('f00000.htm', '-d', out));
    },
  },
  {
    what: ({ manyFiles }) => `peak memory of a batch of ${manyFiles} files, 16 jobs, next to that of 100`,
    measure: (context) => {
      const { batch } = context.commands(context);
      return memory(context, 105e6, batch(names(context.sizes.manyFiles)), batch(names(100)));
    },
  },
  {
    what: ({ lines }) => `peak memory of an input with ${lines} file names, next to one with 100`,
    slow: true,
    measure: async (context) => {
      const count = context.sizes.lines;
      const inputs = { large: count, small: 100 };
      const dry = async ([name, number]) => {
        const input = join(context.folder, `${name}.in`);
        await pipeline(function* () {
          for (let at = 0; at < number; at += 1) yield `${ACCESSION} f${at}.htm\n`;
        }, createWriteStream(input));
        return context.commands(context).run('-i', input, '-n', '-q');
      };
      return memory(context, 120e6 + 250 * count, ...(await Promise.all(Object.entries(inputs).map(dry))));
    },
  },
  {
    what: ({ large }) =>
      `peak memory of ${EIGHTHS.length} downloads of ${large / 8 / MIB} MiB over TLS at the same time, next to small files`,
    needs: ['openssl'],
    measure: (context) => {
      const { ours, out } = context.commands(overTls(context));
      const at = ['-d', out, '-j', JOBS];
      return memory(context, 110e6, ours(...EIGHTHS, ...at), ours(...names(EIGHTHS.length), ...at));
    },
  },
  {
    what: ({ lines }) =>
      `peak memory of one file with --checksums, beside a SHA256SUMS of ${lines} entries, next to none`,
    measure: (context) => {
      const { ours, out } = context.commands(context);
      const alone = ours('f00000.htm', '-d', out, '--checksums');
      const listed = async () => {
        await alone.before();
        await pipeline(sumsOfMissing(context.sizes.lines), createWriteStream(join(out, 'SHA256SUMS')));
      };
      return memory(context, 160e6, { ...alone, before: listed }, alone);
    },
  },
  {
    what: ({ files, mostFiles }) => `time per file in a batch of ${mostFiles}, against one of ${files / 2}`,
    slow: true,
    measure: ({ commands, sizes, ratio, ...context }) => {
      const { batch } = commands(context);
      const share = sizes.files / 2 / sizes.mostFiles;
      return ratio(1.15, batch(names(sizes.mostFiles)), batch(names(sizes.files / 2)), { share });
    },
  },
  verify(0.8, ({ present }) => ({ label: `${present} x 20 kB`, count: present, bytes: 20_000 })),
  verify(0.4, ({ large }) => ({ label: `8 x ${large / 8 / MIB} MiB`, count: 8, bytes: large / 8 })),
  {
    what: ({ large }) => `bytes moved when ${large / MIB} MiB, cut at 90 %, are requested again`,
    measure: async (context) => {
      const { large } = context.sizes;
      return against(await startCutting(large, Math.floor(large * 0.9)), async ({ url, counted }) => {
        const { ours, out } = context.commands({ ...context, url });
        const first = ours('large.bin', '-d', out, '--retries', '0');
        // The first response is cut, so that this run fails.
        await context.bench.time(first).catch(() => {});
        counted.sent = 0;
        await context.bench.time({ argv: first.argv });
        const share = (100 * counted.sent) / large;
        const moved = { ours: megabytes(counted.sent), peer: megabytes(large), figure: `${share.toFixed(1)} %` };
        return { ...moved, bound: '<= 10.5 %', within: share <= 10.5 };
      });
    },
  },
];
