// The time of a start, compared with an empty Node script, and the files that it loads.
import { spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
      // Node reads trusted certificates at its start, which takes long. Both commands therefore read them.
      const pair = [command, { ...nothing, env: command.env }];
      return ratio(await context.bench.pairs(...pair, context.sizes.shortPairs), 3.5);
    },
  };
}

/** Prints the files that a process has loaded when it ends. */
const LOADED = "process.on('exit', () => console.log(Object.keys(require.cache).slice(1).join('\\n')))";

const closure = {
  what: 'what a download of one small file loads of the program',
  measure: async (context) => {
    const { ours, out, fresh } = commands(context);
    await fresh();
    const hook = join(context.folder, 'loaded.cjs');
    writeFileSync(hook, LOADED);
    const [node, ...args] = ours('f00000.htm', '-d', out).argv;
    const { stdout } = spawnSync(node, ['--require', hook, ...args], { encoding: 'utf8' });
    const files = stdout.trim().split('\n');
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    return { figure: `${files.length} files, ${(bytes / 1000).toFixed(0)} kB` };
  },
};

export const START = [
  closure,
  startUp(['--version'], 1.5),
  startUp(['--help'], 1.5),
  startUp(['-h'], 1.5),
  startUp(['completion', 'bash'], 1.5),
  startUp(['__complete', 'bash', 'filings token --'], 1.7),
  small('http', []),
  small('https', ['openssl'], overTls),
];
