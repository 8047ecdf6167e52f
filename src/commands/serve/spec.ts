import { command } from '../../spec/command.ts';
import { count, FILE, type Kind, RATE, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

const LONGEST_LATENCY_MS = 600_000;

/** Requests in a span of milliseconds: 90/m lets ninety come at once. */
const RATE_LIMIT: Kind<{ readonly requests: number; readonly perMs: number }> = {
  parse(text) {
    const perMs = text.endsWith('/m') ? 60_000 : 1000;
    const perSecond = RATE.parse(text);
    return perSecond === undefined ? undefined : { requests: Number.parseFloat(text), perMs };
  },
  wanted: RATE.wanted,
};

export const OPTIONS = options({
  host: {
    kind: TEXT,
    value: 'ADDRESS',
    default: '127.0.0.1',
    help: 'where to listen; beyond loopback it wants a key of your own',
  },
  port: { kind: count(0, 65_535, 8787), value: 'PORT', default: '8787', help: '0 takes a free one' },
  jwtKey: { kind: FILE, value: 'PUBLIC', repeatable: true, help: 'a public key: wants JWTs too' },
  jwtSecret: { kind: FILE, value: 'FILE', help: 'an HMAC secret: wants JWTs too' },
  latency: { kind: count(0, LONGEST_LATENCY_MS, 20), value: 'MS', default: '0', help: 'delays each answer' },
  rateLimit: { kind: RATE_LIMIT, value: 'N/s|N/m', help: 'answers 429 above that' },
});

export const SERVE = command({
  name: 'serve',
  summary: 'run a local stand-in for the service',
  arguments: [
    {
      name: 'DIRECTORY',
      completes: 'directory',
      help: 'files laid out as DIRECTORY/ACCESSION/FILE; the sample filings unless told',
    },
  ],
  options: OPTIONS,
  description: [
    'It answers as the service does: every way of passing the key, JWTs, errors, strong validators and ranges. The first line of stdout is its base URL; requests are logged on stderr, without secrets. Ctrl-C ends it.',
    "It wants the key that the settings name (--api-key, FILINGS_API_KEY and so on), else 'sandbox-key'; with --jwt-key or --jwt-secret a JWT, too.",
  ],
  examples: [
    ['filings serve --port 0', 'the sample filings on a free port'],
    ['filings serve mirror --port 0', 'your own, laid out as mirror/ACCESSION/FILE'],
    ['filings serve --port 0 --latency 200 --rate-limit 10/s', 'a slow service that says 429'],
    ['filings serve --port 0 --jwt-key public.pem', 'one that wants a JWT, too'],
  ],
  settings: ['apiKey', 'apiKeyFile'],
  exits: [
    ['0', 'ended by Ctrl-C or SIGTERM'],
    ['2', 'the command line or the configuration is wrong'],
    ['8', 'the port is taken, or may not be listened on'],
  ],
  seeAlso: ['filings-token(1)'],
  load: () => import('./run.ts'),
});
