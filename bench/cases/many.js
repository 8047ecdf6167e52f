// Many small files, named or chosen from listings, compared with programs that download in parallel.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commands, JOBS, KEY, peersOf } from '../commands.js';
import { names, SMALL_BYTES } from '../material.js';
import { memory, ratio } from '../rows.js';
import { startArchive, startRateLimited, startSlow } from '../servers.js';

const LATENCY_MS = 20;

/** Compares with one of the other programs, without latency. */
function manyFiles(peer, program, bound, label) {
  return {
    what: ({ files }) => `${files} files of 20 kB, 16 jobs, against ${label}`,
    needs: [program],
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

const slowly = {
  what: ({ files }) => `the same ${files} files, ${LATENCY_MS} ms before each answer, against \`curl -Z\``,
  needs: ['curl'],
  measure: async (context) => {
    const server = await startSlow(Buffer.alloc(SMALL_BYTES, 'x'), LATENCY_MS);
    try {
      const slow = { ...context, url: server.url };
      const files = names(context.sizes.files);
      const { curl } = await peersOf(slow, files);
      return ratio(await context.bench.pairs(commands(slow).batch(files), curl, context.sizes.longPairs), 0.85);
    } finally {
      await server.stop();
    }
  },
};

/** A pause that the service requests should delay all jobs by little more than the pause. */
const rateLimitedOnce = {
  what: ({ files }) =>
    `${files / 2} files of 20 kB, one of them first answered with 429 (\`Retry-After: 1\`), 64 jobs against 4`,
  measure: async (context) => {
    const { files, longPairs } = context.sizes;
    const limitedAt = files / 40;
    const server = await startRateLimited(Buffer.alloc(SMALL_BYTES, 'x'), limitedAt);
    try {
      const { batch, fresh } = commands({ ...context, url: server.url });
      const before = () => {
        server.begin();
        return fresh();
      };
      const withJobs = (jobs) => ({ ...batch(names(files / 2), '-j', jobs), before });
      return ratio(await context.bench.pairs(withJobs('64'), withJobs('4'), longPairs), 1.2);
    } finally {
      await server.stop();
    }
  },
};

/** The program must first request the listings. Half of the listed files match. */
const listed = {
  what: ({ filings, files }) =>
    `${files} files chosen by glob from ${filings} listed filings, ${LATENCY_MS} ms before each answer, against \`curl -Z\` with known names`,
  needs: ['curl'],
  measure: async (context) => {
    const { filings, files } = context.sizes;
    const each = files / filings;
    const server = await startArchive({ each: 2 * each, bytes: SMALL_BYTES, latencyMs: LATENCY_MS });
    try {
      const { out, fresh } = commands({ ...context, url: server.url });
      const accessions = Array.from({ length: filings }, (_, filing) => server.accession(filing));
      const input = join(context.folder, 'accessions.txt');
      await writeFile(input, accessions.map((one) => `${one}\n`).join(''));
      const chosen = accessions.flatMap((one) =>
        server.names.filter((_, at) => at % 2 === 0).map((name) => [one, name]),
      );
      const url = ([one, name]) => `${server.url}/v1/download?accession_no=${one}&file_name=${name}`;
      const curl = join(context.folder, 'listed.conf');
      await writeFile(curl, chosen.map((file) => `url = "${url(file)}"\noutput = "${join(out, ...file)}"\n`).join(''));
      const ours = ['download', '-i', input, '--include', '*.htm', '-d', out, '-j', JOBS];
      const peer = [
        'curl',
        '-sSf',
        '-Z',
        '--create-dirs',
        '--parallel-max',
        JOBS,
        '-H',
        `Authorization: ${KEY}`,
        '-K',
        curl,
      ];
      const pair = [
        { argv: [...context.filings, ...ours, '--base-url', server.url, '--api-key', KEY], before: fresh },
        { argv: peer, before: fresh },
      ];
      return ratio(await context.bench.pairs(...pair, context.sizes.longPairs), 0.9);
    } finally {
      await server.stop();
    }
  },
};

const flat = {
  what: ({ files, mostFiles }) => `time a file in a batch of ${mostFiles}, against one of ${files / 2}`,
  slow: true,
  measure: async (context) => {
    const { batch } = commands(context);
    const { files, mostFiles, memoryRuns } = context.sizes;
    const runs = await context.bench.pairs(batch(names(mostFiles)), batch(names(files / 2)), memoryRuns);
    const share = files / 2 / mostFiles;
    const us = (value) => `${(value * 1e6).toFixed(0)} us`;
    return {
      ...ratio({ ...runs, ratio: runs.ratio * share, least: runs.least * share, most: runs.most * share }, 1.15),
      ours: us(runs.ours / mostFiles),
      peer: us(runs.peer / (files / 2)),
    };
  },
};

export const MANY = [
  manyFiles('curl', 'curl', 1.8, '`curl -Z --parallel-max 16`'),
  slowly,
  manyFiles('aria2c', 'aria2c', 0.6, '`aria2c -j16`'),
  manyFiles('wget2', 'wget2', undefined, '`wget2 --max-threads 16`'),
  manyFiles('loop', 'curl', 0.2, 'a shell loop of one curl a file'),
  listed,
  rateLimitedOnce,
  {
    what: ({ manyFiles }) => `peak memory of a batch of ${manyFiles} files, 16 jobs, beside that of 100`,
    measure: async (context) => {
      const { batch } = commands(context);
      return memory(
        context,
        batch(names(context.sizes.manyFiles)),
        batch(names(Math.min(100, context.sizes.files))),
        110e6,
      );
    },
  },
  flat,
];
