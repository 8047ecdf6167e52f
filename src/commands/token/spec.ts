import { ALGORITHM_NAMES } from '../../jwt/algorithms.ts';
import { type ArgumentSpec, command } from '../../spec/command.ts';
import { choice, DURATION, FILE, type Kind, SWITCH, TEXT, TIME } from '../../spec/kind.ts';
import { options } from '../../spec/option.ts';

/** Others are refused where the key is known, in words about it. */
const ALGORITHM: Kind<string> = { ...TEXT, suggests: ALGORITHM_NAMES };

const JSON_OUTPUT = options({ json: { kind: SWITCH, help: 'JSON for programs' } });

/** What `sign` and `verify` take for a key. */
export const KEY_OPTIONS = options({
  key: { kind: FILE, value: 'FILE', excludes: ['secretFile'], help: 'a PEM or JWK key; - is stdin' },
  secretFile: { kind: FILE, value: 'FILE', help: 'an HMAC secret, raw bytes; - is stdin' },
  passphraseFile: { kind: FILE, value: 'FILE', help: 'the passphrase of an encrypted key' },
});

export const SIGN_OPTIONS = options({
  alg: { kind: ALGORITHM, value: 'ALG', otherwise: 'follows the key', help: 'the signature algorithm, such as RS256' },
  ...KEY_OPTIONS,
  kid: { kind: TEXT, value: 'ID', help: "the key's identifier, in the header" },
  sub: { kind: TEXT, value: 'TEXT', help: 'the subject claim' },
  name: { kind: TEXT, value: 'TEXT', help: 'the name claim' },
  lifetime: { kind: DURATION, value: 'DURATION', otherwise: '5m', help: 'how long it is valid' },
  notBefore: { kind: TEXT, value: 'WHEN', help: 'when it begins to be valid: a time, or a duration from now' },
  claim: { kind: TEXT, value: 'NAME=VALUE', repeatable: true, help: 'a further claim, as a string' },
  claimJson: { kind: TEXT, value: 'NAME=JSON', repeatable: true, help: 'a further claim, as JSON' },
  header: { kind: SWITCH, excludes: ['json'], help: 'print a whole Authorization header' },
  ...JSON_OUTPUT,
});

export const INSPECT_OPTIONS = JSON_OUTPUT;

export const VERIFY_OPTIONS = options({
  ...KEY_OPTIONS,
  alg: {
    kind: ALGORITHM,
    value: 'ALG',
    repeatable: true,
    otherwise: 'those that fit the key',
    help: 'an allowed algorithm',
  },
  leeway: { kind: DURATION, value: 'DURATION', default: '0s', help: 'how far clocks may differ' },
  at: { kind: TIME, value: 'TIME', otherwise: 'now', help: 'the time to check against' },
  ...JSON_OUTPUT,
});

export const KEYGEN_OPTIONS = options({
  alg: { kind: ALGORITHM, value: 'ALG', help: 'the algorithm it is for' },
  out: { kind: FILE, value: 'FILE', help: 'where the private key goes; never overwritten' },
  public: { kind: FILE, value: 'FILE', help: 'where the public key goes' },
  format: { kind: choice('pem', 'jwk'), value: 'FORMAT', default: 'pem', help: 'the form of the key files' },
  kid: { kind: TEXT, value: 'ID', help: "the key's identifier" },
});

const TOKEN_ARGUMENT: ArgumentSpec = { name: 'TOKEN', help: 'the token; - or nothing: stdin' };

const SIGN = command({
  name: 'sign',
  summary: 'mint a JWT and print it',
  options: SIGN_OPTIONS,
  examples: [
    ['filings token sign --key private.pem --sub alice', 'a token for five minutes'],
    ['curl -H "$(filings token --header)" URL', "with what the config file's jwt says"],
  ],
  load: () => import('./sign.ts'),
});

const INSPECT = command({
  name: 'inspect',
  summary: 'show what a JWT says, without checking it',
  arguments: [TOKEN_ARGUMENT],
  options: INSPECT_OPTIONS,
  examples: [
    ['filings token sign | filings token inspect', 'what a minted token says'],
    ['filings token inspect --json < token.txt | jq .objections', 'what the service would object to'],
  ],
  load: () => import('./inspect.ts'),
});

const VERIFY = command({
  name: 'verify',
  summary: 'check a JWT as strictly as the service should',
  arguments: [TOKEN_ARGUMENT],
  options: VERIFY_OPTIONS,
  examples: [
    ['filings token verify --key public.pem < token.txt', 'its claims, or why not'],
    ['filings token verify "$TOKEN" --secret-file secret --leeway 30s --json', 'one JSON object either way'],
  ],
  load: () => import('./verify.ts'),
});

const KEYGEN = command({
  name: 'keygen',
  summary: 'make a key or a secret for JWTs',
  options: KEYGEN_OPTIONS,
  examples: [
    ['filings token keygen --alg ES256 --out private.pem --public public.pem', 'a key pair'],
    ['filings token keygen --alg HS256 --out secret', 'a shared secret'],
  ],
  load: () => import('./keygen.ts'),
});

export const TOKEN = command({
  name: 'token',
  summary: 'mint, read and check JWTs',
  defaultChild: 'sign',
  children: [SIGN, INSPECT, VERIFY, KEYGEN],
});
