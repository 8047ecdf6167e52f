// What a start takes, beside a Node that does nothing.
import { commands, overTls } from '../commands.js';
import { ratio } from '../rows.js';

export const nothing = { argv: [process.execPath, '-e', '0'] };

function startUp(args, bound) {
  return {
    what: `\`filings ${args.join(' ')}\` against \`node -e 0\``,
    measure: async ({ bench, filings, sizes }) =>
      ratio(await bench.pairs({ argv: [...filings, ...args] }, nothing, sizes.shortPairs), bound),
  };
}

function small(scheme, needs, at = (context) => context) {
  return {
    what: `\`filings download\` of one file of 20 kB over ${scheme} against \`node -e 0\``,
    needs,
    measure: async (context) => {
      const { ours, out } = commands(at(context));
      const command = ours('f00000.htm', '-d', out);
      // Whom to trust is read as Node starts, which takes as long as Node does: so both read it.
      const pair = [command, { ...nothing, env: command.env }];
      return ratio(await context.bench.pairs(...pair, context.sizes.shortPairs), 3.5);
    },
  };
}

export const START = [
  startUp(['--version'], 1.5),
  startUp(['--help'], 1.6),
  startUp(['-h'], 1.6),
  startUp(['completion', 'bash'], 1.5),
  small('http', []),
  small('https', ['openssl'], overTls),
];
