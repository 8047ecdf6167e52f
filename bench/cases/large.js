// One large file: to disk, to a pipe, over TLS, resumed; and its memory.
import { commands, overTls } from '../commands.js';
import { megabytes, memory, ratio } from '../rows.js';
import { startCutting } from '../servers.js';

const MIB = 2 ** 20;

function toDisk(bound, { tls }) {
  return {
    what: ({ large }) =>
      `${large / MIB} MiB to disk${tls ? ' over TLS' : ''}, flushed, against \`curl -o\` then \`sync FILE\``,
    needs: tls ? ['curl', 'openssl'] : ['curl'],
    measure: async (context) => {
      const { ours, curlToDisk, out } = commands(tls ? overTls(context) : context);
      const pair = [ours('large.bin', '-d', out), curlToDisk('large.bin')];
      return ratio(await context.bench.pairs(...pair, context.sizes.longPairs), bound);
    },
  };
}

function toPipe(bound, { tls }) {
  return {
    what: ({ large }) => `${large / MIB} MiB to a pipe${tls ? ' over TLS' : ''}, against curl`,
    needs: tls ? ['curl', 'openssl'] : ['curl'],
    measure: async (context) => {
      const { ourPipe, curlPipe } = commands(tls ? overTls(context) : context);
      const pair = [ourPipe('large.bin'), curlPipe('large.bin')];
      return ratio(await context.bench.pairs(...pair, context.sizes.longPairs), bound);
    },
  };
}

const resumed = {
  what: ({ large }) => `bytes moved when ${large / MIB} MiB, cut at 90 %, are asked for again`,
  measure: async (context) => {
    const { large } = context.sizes;
    const server = await startCutting(large, Math.floor(large * 0.9));
    try {
      const { ours, out } = commands({ ...context, url: server.url });
      const { argv, before } = ours('large.bin', '-d', out, '--retries', '0');
      // The first response is cut, so that this run fails.
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
};

export const LARGE = [
  toDisk(0.8, { tls: false }),
  toDisk(1.05, { tls: true }),
  toPipe(1.4, { tls: false }),
  toPipe(1.3, { tls: true }),
  {
    what: ({ sparse }) => `peak memory of a ${sparse / MIB} MiB download, beside that of 20 kB`,
    measure: async (context) => {
      const { ours, out } = commands(context);
      return memory(context, ours('sparse.bin', '-d', out), ours('f00000.htm', '-d', out), 100e6);
    },
  },
  resumed,
];
