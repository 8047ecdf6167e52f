// What is measured. A case is { what, bound, measure(context) }, whose figure is compared with the bound;
// `needs` names the program that it can't do without.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { names, SMALL_BYTES } from './material.js';
import { median } from './measure.js';
import { startCutting, startSlow } from './servers.js';

const ACCESSION = '0001234567-24-000001';
const KEY = 'bench-key';
const JOBS = '16';
const LATENCY_MS = 20;

const sh = (script, ...args) => ['sh', '-c', script, 'sh', ...args];

/** The command lines, for a service at `url`. */
function commands({ filings, url, folder }) {
  const out = join(folder, 'out');
  const fresh = async () => {
    await rm(out, { recursive: true, force: true });
    await mkdir(out);
  };
  const link = (name) => `${url}/v1/download?accession_no=${ACCESSION}&file_name=${name}`;
  const own = (...args) => [...filings, 'download', ACCESSION, ...args, '--base-url', url, '--api-key', KEY];
  const header = `Authorization: ${KEY}`;
  return {
    out,
    fresh,
    link,
    header,
    ours: (...args) => ({ argv: own(...args), before: fresh }),
    batch: (files, ...more) => ({ argv: own(...files, '-d', out, '-j', JOBS, ...more), before: fresh }),
    ourPipe: (name) => ({ argv: sh('"$@" | cat > /dev/null', ...own(name, '-o', '-')) }),
    curlToDisk: (name) => ({
      argv: sh('curl -sSf -H "$1" -o "$2" "$3" && sync "$2"', header, join(out, name), link(name)),
      before: fresh,
    }),
    curlPipe: (name) => ({ argv: sh('curl -sSf -H "$1" "$2" | cat > /dev/null', header, link(name)) }),
  };
}

/** `curl -Z`, aria2c, or a loop, over the same files, from a list that each of them takes. */
async function peersOf({ folder, url }, files) {
  const { out, fresh, link, header } = commands({ filings: [], folder, url });
  const curl = join(folder, 'curl.conf');
  const aria = join(folder, 'aria2.txt');
  const lines = join(folder, 'lines.txt');
  await writeFile(curl, files.map((name) => `url = "${link(name)}"\noutput = "${join(out, name)}"\n`).join(''));
  await writeFile(aria, files.map((name) => `${link(name)}\n  out=${name}\n`).join(''));
  await writeFile(lines, files.map((name) => `${link(name)} ${join(out, name)}\n`).join(''));
  const loop = 'while read -r url path; do curl -sSf -H "$1" -o "$path" "$url" || exit; done < "$2"';
  return {
    curl: { argv: ['curl', '-sSf', '-Z', '--parallel-max', JOBS, '-H', header, '-K', curl], before: fresh },
    aria2c: {
      argv: ['aria2c', '-q', '-j', JOBS, '--file-allocation=none', '--header', header, '-d', out, '-i', aria],
      before: fresh,
    },
    loop: { argv: sh(loop, header, lines), before: fresh },
  };
}

const seconds = (value) => (value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(2)} s`);
const megabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;

/** A row of a ratio. */
const ratio = ({ ours, peer, ratio: figure }, bound) => ({
  ours: seconds(ours),
  peer: seconds(peer),
  figure: `${figure.toFixed(2)} x`,
  bound: `<= ${bound} x`,
  within: figure <= bound,
});

const nothing = { argv: [process.execPath, '-e', '0'] };

function startUp(args, bound) {
  return {
    what: `\`filings ${args.join(' ')}\` against \`node -e 0\``,
    measure: async ({ bench, filings, sizes }) =>
      ratio(await bench.pairs({ argv: [...filings, ...args] }, nothing, sizes.shortPairs), bound),
  };
}

/** Many small files against one of the peers, without latency. */
function manyFiles(peer, program, bound, label) {
  return {
    what: ({ files }) => `${files} files of 20 kB, 16 jobs, against ${label}`,
    needs: program,
    measure: async (context) => {
      const files = names(context.sizes.files);
      const peers = await peersOf(context, files);
      return ratio(
        await context.bench.pairs(commands(context).batch(files), peers[peer], context.sizes.longPairs),
        bound,
      );
    },
  };
}

export const CASES = [
  {
    what: ({ large }) => `${large / 2 ** 20} MiB to disk, flushed, against \`curl -o\` then \`sync FILE\``,
    needs: 'curl',
    measure: async (context) => {
      const { ours, curlToDisk, out } = commands(context);
      const pair = [ours('large.bin', '-d', out), curlToDisk('large.bin')];
      return ratio(await context.bench.pairs(...pair, context.sizes.longPairs), 1);
    },
  },
  {
    what: ({ large }) => `${large / 2 ** 20} MiB to a pipe, against curl`,
    needs: 'curl',
    measure: async (context) => {
      const { ourPipe, curlPipe } = commands(context);
      return ratio(
        await context.bench.pairs(ourPipe('large.bin'), curlPipe('large.bin'), context.sizes.longPairs),
        1.5,
      );
    },
  },
  {
    what: ({ sparse }) => `peak memory of a ${sparse / 2 ** 20} MiB download, beside that of 20 kB`,
    measure: async (context) => {
      const { ours, out } = commands(context);
      return memory(context, ours('sparse.bin', '-d', out), ours('f00000.htm', '-d', out));
    },
  },
  {
    what: ({ manyFiles }) => `peak memory of a batch of ${manyFiles} files, 16 jobs, beside that of 100`,
    measure: async (context) => {
      const { batch } = commands(context);
      return memory(context, batch(names(context.sizes.manyFiles)), batch(names(100)));
    },
  },
  manyFiles('curl', 'curl', 2.5, '`curl -Z --parallel-max 16`'),
  {
    what: ({ files }) => `the same ${files} files, ${LATENCY_MS} ms before each answer, against \`curl -Z\``,
    needs: 'curl',
    measure: async (context) => {
      const server = await startSlow(Buffer.alloc(SMALL_BYTES, 'x'), LATENCY_MS);
      try {
        const slow = { ...context, url: server.url };
        const files = names(context.sizes.files);
        const { curl } = await peersOf(slow, files);
        return ratio(await context.bench.pairs(commands(slow).batch(files), curl, context.sizes.longPairs), 1.1);
      } finally {
        await server.stop();
      }
    },
  },
  manyFiles('aria2c', 'aria2c', 0.6, '`aria2c -j16`'),
  manyFiles('loop', 'curl', 0.2, 'a shell loop of one curl a file'),
  startUp(['--version'], 1.3),
  startUp(['--help'], 1.3),
  startUp(['completion', 'bash'], 1.3),
  // What a shell asks at a TAB, the second time and later: the first of many is from the service.
  startUp(['completion', '--names', 'bash', '--', '--sandbox', 'download', '0001234567-24-000001', ''], 1.5),
  {
    what: '`filings download` of one file of 20 kB against `node -e 0`',
    measure: async (context) => {
      const { ours, out } = commands(context);
      return ratio(await context.bench.pairs(ours('f00000.htm', '-d', out), nothing, context.sizes.shortPairs), 4);
    },
  },
  {
    what: ({ present }) =>
      `a second run over ${present} files that are there, against 1.5 x \`node -e 0\` + 60 us a file`,
    measure: async (context) => {
      const { batch, out } = commands(context);
      const count = context.sizes.present;
      const { argv, before } = batch(names(count));
      await before();
      for (const name of names(count)) await writeFile(join(out, name), 'x');
      const runs = await context.bench.pairs({ argv }, nothing, context.sizes.longPairs);
      const allowed = 1.5 * runs.peer + 60e-6 * count;
      return ratio({ ours: runs.ours, peer: allowed, ratio: runs.ours / allowed }, 1);
    },
  },
  {
    what: ({ files, manyFiles }) => `time a file in a batch of ${manyFiles}, against one of ${files / 2}`,
    measure: async (context) => {
      const { batch } = commands(context);
      const { files, manyFiles, longPairs } = context.sizes;
      const runs = await context.bench.pairs(batch(names(manyFiles)), batch(names(files / 2)), longPairs);
      const each = { ours: runs.ours / manyFiles, peer: runs.peer / (files / 2) };
      const figure = (runs.ratio * files) / 2 / manyFiles;
      return {
        ...ratio({ ...each, ratio: figure }, 1.15),
        ours: `${(each.ours * 1e6).toFixed(0)} us`,
        peer: `${(each.peer * 1e6).toFixed(0)} us`,
      };
    },
  },
  {
    what: ({ large }) => `bytes moved when ${large / 2 ** 20} MiB, cut at 90 %, are asked for again`,
    measure: async (context) => {
      const { large } = context.sizes;
      const server = await startCutting(large, Math.floor(large * 0.9));
      try {
        const { ours, out } = commands({ ...context, url: server.url });
        const { argv, before } = ours('large.bin', '-d', out, '--retries', '0');
        // It is cut off, and says so.
        await context.bench.time({ argv, before }).catch(() => {});
        server.counted.sent = 0;
        await context.bench.time({ argv });
        const share = (100 * server.counted.sent) / large;
        return {
          ours: megabytes(server.counted.sent),
          peer: megabytes(large),
          figure: `${share.toFixed(1)} %`,
          bound: '<= 10.5 %',
          within: share <= 10.5,
        };
      } finally {
        await server.stop();
      }
    },
  },
];

/** The larger one's peak must be under 150 MB, and within 20 MB of the smaller one's. */
async function memory({ bench, sizes }, large, small) {
  const peaks = { large: [], small: [] };
  for (let run = 0; run < sizes.memoryRuns; run += 1) {
    peaks.large.push(await bench.peak(large));
    peaks.small.push(await bench.peak(small));
  }
  const [most, least] = [median(peaks.large), median(peaks.small)];
  return {
    ours: megabytes(most),
    peer: megabytes(least),
    figure: `${most < least ? '' : '+'}${megabytes(most - least)}`,
    bound: '<= 150 MB, +20 MB',
    within: most <= 150e6 && most - least <= 20e6,
  };
}
