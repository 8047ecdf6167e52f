// The options and the help of `filings serve`.
import { command } from '../../spec/command.ts';
import { count, FILE, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

export const OPTIONS = options({
  host: {
    kind: TEXT,
    value: 'ADDRESS',
    default: '127.0.0.1',
    help: 'listen on this address; beyond loopback it needs its own key',
  },
  port: {
    kind: count(0, 65_535, 8787),
    value: 'PORT',
    default: '8787',
    help: 'listen on this port; 0 takes a free one',
  },
  jwtKey: { kind: FILE, value: 'PUBLIC', repeatable: true, help: 'also require a JWT that this public key verifies' },
  jwtSecret: { kind: FILE, value: 'FILE', help: 'also require a JWT that this HMAC secret verifies' },
  pages: { kind: count(1, 100_000, 5), value: 'N', help: 'send listings in pages of at most N records' },
});

export const SERVE = command({
  name: 'serve',
  summary: 'run a local stand-in for the service',
  arguments: [
    {
      name: 'DIRECTORY',
      help: 'files laid out as DIRECTORY/ACCESSION/FILE (default: the sample filings)',
    },
  ],
  options: OPTIONS,
  description: [
    'It answers as the service does: it accepts every way of passing the key, JWTs and ranges, and sends the same kinds of errors. The first line of stdout is its base URL. Requests are logged on stderr, without secrets.',
    'The key comes from --api-key, --api-key-file or their environment variables (default: sandbox-key), but never from the config file.',
  ],
  examples: [
    ['filings serve --port 0', 'the sample filings on a free port'],
    ['filings serve mirror --port 0', 'your own files, laid out as mirror/ACCESSION/FILE'],
    ['filings serve --port 0 --pages 2', 'listings in pages, to try a description of them'],
  ],
  load: () => import('./run.ts'),
});
