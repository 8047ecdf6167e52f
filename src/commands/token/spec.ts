import { parseStrictly } from '../../json.ts';
import { ALGORITHM } from '../../jwt/algorithms.ts';
import type { Claim } from '../../jwt/sign.ts';
import { type ArgumentSpec, defineCommand } from '../../spec/command.ts';
import { choice, DURATION, FILE, type Kind, SWITCH, TEXT, TIME, wholeSeconds } from '../../spec/kind.ts';
import { defineOptions } from '../../spec/option.ts';

/** `-` would create a file with this name. */
const OUTPUT_FILE: Kind<string> = {
  ...FILE,
  parse: (text) => (text === '-' ? undefined : FILE.parse(text)),
  expected: 'a file, not stdout',
};

/**
 * The value is a function from the time at which the token is issued to the resulting time, in seconds since the epoch,
 * because a duration begins when the token is issued.
 */
const START_TIME: Kind<(issuedAt: number) => number> = {
  parse(text) {
    // In milliseconds. No string is valid as both.
    const [duration, time] = [DURATION.parse(text), TIME.parse(text)];
    if (duration !== undefined) return (issuedAt) => issuedAt + Math.floor(duration / 1000);
    return time === undefined || time < 0 ? undefined : () => Math.floor(time / 1000);
  },
  expected: 'a duration, such as 30s, or a time, such as 2025-01-31T12:00:00Z',
};

/** `toJson` converts VALUE to the JSON of the claim. It returns undefined if VALUE is invalid. */
function createClaimKind(expected: string, toJson: (value: string) => string | undefined): Kind<Claim> {
  const parse = (text: string): Claim | undefined => {
    const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const json = toJson(value);
    return name === undefined || json === undefined ? undefined : [name, json];
  };
  return { parse, expected };
}
const TEXT_CLAIM = createClaimKind('NAME=VALUE, such as role=reader', JSON.stringify);
const JSON_CLAIM = createClaimKind('NAME=JSON without duplicate members, such as \'roles=["reader"]\'', (json) =>
  parseStrictly(json).fault === undefined ? json.trim() : undefined,
);

const JSON_OUTPUT = defineOptions({ json: { kind: SWITCH, help: 'print JSON' } });

export const KEY_OPTIONS = defineOptions({
  key: { kind: FILE, value: 'FILE', excludes: ['secretFile'], help: 'read a PEM or JWK key from FILE; - is stdin' },
  secretFile: {
    kind: FILE,
    value: 'FILE',
    excludes: ['passphraseFile'],
    help: 'read an HMAC secret, raw bytes, from FILE; - is stdin',
    longHelp: 'Nothing is trimmed. HS256 needs at least 32 bytes, HS384 48 and HS512 64.',
  },
  passphraseFile: { kind: FILE, value: 'FILE', help: 'read the passphrase of an encrypted key' },
});

export const SIGN_OPTIONS = defineOptions({
  alg: {
    kind: ALGORITHM,
    value: 'ALG',
    defaultText: 'follows the key',
    help: 'sign with this algorithm, such as RS256',
  },
  ...KEY_OPTIONS,
  kid: { kind: TEXT, value: 'ID', help: 'set the key ID (kid) in the header' },
  sub: { kind: TEXT, value: 'TEXT', help: 'set the subject claim' },
  name: { kind: TEXT, value: 'TEXT', help: 'set the name claim' },
  // A `default` would override the lifetime of the recipe.
  lifetime: { kind: wholeSeconds(1), value: 'DURATION', defaultText: '5m', help: 'make the token valid for this time' },
  notBefore: {
    kind: START_TIME,
    value: 'WHEN',
    defaultText: 'now',
    help: 'make the token valid from this time, or after this duration',
  },
  claim: { kind: TEXT_CLAIM, value: 'NAME=VALUE', repeatable: true, help: 'add a claim whose value is a string' },
  claimJson: { kind: JSON_CLAIM, value: 'NAME=JSON', repeatable: true, help: 'add a claim whose value is JSON' },
  header: { kind: SWITCH, excludes: ['json', 'out'], help: 'print an Authorization header' },
  ...JSON_OUTPUT,
  out: {
    kind: OUTPUT_FILE,
    value: 'FILE',
    excludes: ['json'],
    help: 'write the token to FILE (mode 0600), for --jwt-file',
  },
});

export const INSPECT_OPTIONS = JSON_OUTPUT;

export const VERIFY_OPTIONS = defineOptions({
  ...KEY_OPTIONS,
  alg: {
    kind: ALGORITHM,
    value: 'ALG',
    repeatable: true,
    defaultText: 'those that fit the key',
    help: 'allow this algorithm',
  },
  leeway: { kind: DURATION, value: 'DURATION', default: '0s', help: 'allow clocks to differ by this time' },
  at: { kind: TIME, value: 'TIME', defaultText: 'now', help: 'check as of this time' },
  ...JSON_OUTPUT,
});

export const KEYGEN_OPTIONS = defineOptions({
  alg: { kind: ALGORITHM, value: 'ALG', help: 'make a key for this algorithm (required)' },
  out: { kind: OUTPUT_FILE, value: 'FILE', help: 'write the private key or secret to a new FILE (required)' },
  public: { kind: OUTPUT_FILE, value: 'FILE', help: 'write the public key to FILE instead of stdout' },
  format: { kind: choice('pem', 'jwk'), value: 'FORMAT', default: 'pem', help: 'write the keys in this format' },
  kid: { kind: TEXT, value: 'ID', help: 'set the key ID (kid) of a JWK' },
});

const TOKEN_ARGUMENT: ArgumentSpec = { name: 'TOKEN', help: 'the token; - or nothing means stdin' };

const SIGN = defineCommand({
  name: 'sign',
  summary: 'mint a JWT and print it',
  options: SIGN_OPTIONS,
  description: [
    'Without --key or --secret-file, the jwt section of the config file says how to sign, and options override its members. The claims iat, nbf and exp are always set.',
  ],
  examples: [
    ['filings token sign --key private.pem --lifetime 1h --claim role=reader', 'for an hour, with a role'],
    ['filings token sign --key private.pem --out token.jwt', 'to a file, for --jwt-file'],
  ],
  load: () => import('./sign.ts'),
});

const INSPECT = defineCommand({
  name: 'inspect',
  summary: 'show what a JWT says, without checking its signature',
  arguments: [TOKEN_ARGUMENT],
  options: INSPECT_OPTIONS,
  description: ["The signature is not checked: 'filings token verify' does that."],
  examples: [['filings token inspect < token.txt', 'header, claims and problems']],
  load: () => import('./inspect.ts'),
});

const VERIFY = defineCommand({
  name: 'verify',
  summary: 'check the signature and the claims of a JWT',
  arguments: [TOKEN_ARGUMENT],
  options: VERIFY_OPTIONS,
  description: ['The error names the first check that failed: format, header, key, signature or claims.'],
  examples: [['filings token verify --key public.pem --leeway 30s < token.txt', 'the claims, or why it is not valid']],
  load: () => import('./verify.ts'),
});

const KEYGEN = defineCommand({
  name: 'keygen',
  summary: 'make a key or a secret for JWTs',
  options: KEYGEN_OPTIONS,
  description: [
    "The file of the private key gets mode 0600. No file is overwritten, and no directory is created. Prints what to import into the service's portal: the public key, or the secret in base64.",
  ],
  examples: [
    ['filings token keygen --alg ES256 --out private.pem --public public.pem', 'a key pair'],
    ['filings token keygen --alg HS256 --out secret', 'a shared secret'],
  ],
  load: () => import('./keygen.ts'),
});

export const TOKEN = defineCommand({
  name: 'token',
  summary: 'mint, read and check JWTs',
  defaultChild: 'sign',
  description: ["'filings token' alone is 'filings token sign'."],
  examples: [['filings token sign --key private.pem --sub alice > token.txt', 'a token for five minutes']],
  children: [SIGN, INSPECT, VERIFY, KEYGEN],
});
