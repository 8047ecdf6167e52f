import { command } from '../../spec/command.ts';
import { count, DURATION, FILE, type Kind, RATE, TEXT } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** A number of requests in a time: 90/m allows ninety at once. */
const RATE_LIMIT: Kind<{ readonly requests: number; readonly perMs: number }> = {
  parse(text) {
    const perMs = text.endsWith('/m') ? 60_000 : 1000;
    const perSecond = RATE.parse(text);
    return perSecond === undefined ? undefined : { requests: Number.parseFloat(text), perMs };
  },
  expected: RATE.expected,
};

/** The maximum number of records of a page, and the number of the first page. */
const PAGES: Kind<{ readonly size: number; readonly first: number }> = {
  parse(text) {
    const [, size, first = '1'] = /^([1-9]\d{0,4})(?:,([01]))?$/.exec(text) ?? [];
    return size === undefined ? undefined : { size: Number(size), first: Number(first) };
  },
  expected: 'a number of records, and 0 or 1 for the number of the first page, such as 5 or 5,0',
};

export const OPTIONS = options({
  host: {
    kind: TEXT,
    value: 'ADDRESS',
    default: '127.0.0.1',
    help: 'listen here; not loopback: needs a key of your own',
  },
  port: {
    kind: count(0, 65_535, 8787),
    value: 'PORT',
    default: '8787',
    help: 'listen on this port; 0 takes a free one',
  },
  jwtKey: { kind: FILE, value: 'PUBLIC', repeatable: true, help: 'also require a JWT that this public key verifies' },
  jwtSecret: { kind: FILE, value: 'FILE', help: 'also require a JWT that this HMAC secret verifies' },
  pages: { kind: PAGES, value: 'N[,0|1]', help: 'send listings in pages of N records, counted from 1 or from 0' },
  latency: { kind: DURATION, value: 'DURATION', help: 'delay each answer' },
  rateLimit: { kind: RATE_LIMIT, value: 'N/s|N/m', help: 'answer 429 above this rate' },
});

export const SERVE = command({
  name: 'serve',
  summary: 'run a local stand-in for the service',
  arguments: [
    {
      name: 'DIRECTORY',
      completes: 'directory',
      help: 'files laid out as DIRECTORY/ACCESSION/FILE (default: the sample filings)',
    },
  ],
  options: OPTIONS,
  description: [
    'Answers as the service does: every way of passing the key, JWTs, errors, strong validators and ranges. The first line of stdout is its base URL. Requests are logged on stderr, without secrets.',
    'Takes the key from --api-key, --api-key-file or their environment variables (default: sandbox-key), never from the config file.',
  ],
  examples: [
    ['filings serve --port 0', 'the sample filings on a free port'],
    ['filings serve mirror --port 0', 'your own, laid out as mirror/ACCESSION/FILE'],
    ['filings serve --port 0 --pages 2', 'listings in pages: see download --page-size'],
    ['filings serve --port 0 --latency 200ms --rate-limit 10/s', 'a slow service that answers 429'],
  ],
  exits: ['7'],
  load: () => import('./run.ts'),
});
