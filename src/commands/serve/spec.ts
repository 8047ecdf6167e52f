import { defineCommand } from '../../spec/command.ts';
import { FILE, integer, TEXT } from '../../spec/kind.ts';
import { defineOptions } from '../../spec/option.ts';

export const OPTIONS = defineOptions({
  host: {
    kind: TEXT,
    value: 'ADDRESS',
    default: '127.0.0.1',
    help: 'listen on ADDRESS; if not loopback, set your own API key',
  },
  port: {
    kind: integer({ min: 0, max: 65_535, example: 8787 }),
    value: 'PORT',
    default: '8787',
    help: 'listen on this port; 0 picks a free one',
  },
  // With several keys from these two options, it is enough if one of them verifies the JWT.
  jwtKey: { kind: FILE, value: 'PUBLIC', repeatable: true, help: 'also require a JWT that this public key verifies' },
  jwtSecret: { kind: FILE, value: 'FILE', help: 'also require a JWT that this HMAC secret verifies' },
  pages: {
    kind: integer({ min: 1, max: 100_000, example: 5 }),
    value: 'N',
    help: 'send listings in pages of at most N records',
  },
});

export const SERVE = defineCommand({
  name: 'serve',
  summary: 'run a local stand-in for the service',
  arguments: [
    {
      name: 'DIRECTORY',
      help: 'serve DIRECTORY/ACCESSION/FILE (default: sample filings)',
    },
  ],
  options: OPTIONS,
  description: [
    'It behaves like the service: it accepts the API key wherever --key-in can put it, verifies JWTs, supports ranges, and sends errors of the same kinds. The first line on stdout is its base URL. It logs requests to stderr, without secrets.',
    'The key comes from --api-key, --api-key-file or their environment variables, and never from the config file. The default is sandbox-key.',
  ],
  examples: [
    ['filings serve --port 0', 'serve the sample filings on a free port'],
    ['filings serve mirror --port 0', 'serve your own files from mirror/ACCESSION/FILE'],
    ['filings serve --port 0 --pages 2', 'split listings into pages, to try out the listing setting'],
  ],
  load: () => import('./run.ts'),
});
