import { FilingsError } from '../errors.ts';
import { checkBaseUrl, parseBaseUrl } from './base-url.ts';
import { wantedCount } from './config-fault.ts';
import { type Given, type Layer, sourceOf } from './layers.ts';
import { KEY_WAYS, SETTINGS, type SettingSpec } from './options.ts';
import type { Settings } from './settings.ts';
import { basicUserOf, keyHeaderOf, keyOf, tokenOf } from './typed-credentials.ts';
import { parseCount, readChoice, readValue, type ValueKind, type ValueTypes, valueError } from './values.ts';

/** What a timer can count; a longer time is as good as none. Milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The values that won, read and checked.
 * @throws FilingsError `usage` or `config`, naming the source of what is wrong
 */
export function typedSettings(given: Layer): Settings {
  const read = reader(given);
  const settings: Settings = Object.freeze({
    baseUrl: baseUrlOf(given),
    key: keyOf(given),
    keyIn: read.choice('keyIn') as Settings['keyIn'],
    keyHeader: keyHeaderOf(given),
    basicUser: basicUserOf(given),
    token: tokenOf(given),
    sandbox: read.flag('sandbox'),
    allowHttp: read.flag('allowHttp'),
    connectTimeout: read.timer('connectTimeout') ?? 0,
    idleTimeout: read.timer('idleTimeout') ?? 0,
    deadline: read.timer('deadline'),
    retries: read.count('retries'),
    maxRetryAfter: read.timer('maxRetryAfter') ?? 0,
    jobs: read.count('jobs'),
    rate: read.value('rate', 'rate'),
    color: read.choice('color') as Settings['color'],
    progress: read.choice('progress') as Settings['progress'],
    errorFormat: read.choice('errorFormat') as Settings['errorFormat'],
    quiet: read.flag('quiet'),
    verbose: read.flag('verbose'),
  });
  checkTogether(settings, given);
  return settings;
}

/** Rules about more than one setting. */
function checkTogether(settings: Settings, given: Layer): void {
  if (settings.quiet && settings.verbose) {
    throw new FilingsError('usage', '--quiet and --verbose: they exclude each other');
  }
  if (settings.baseUrl !== undefined) checkBaseUrl(settings.baseUrl, settings.allowHttp);
  const { keyIn, token } = settings;
  if (token === undefined || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  // Contract part 5, rule 1.
  const allowed = KEY_WAYS.filter((way) => way !== 'authorization' && way !== 'basic');
  const source = sourceOf(given.get('keyIn'));
  throw new FilingsError(
    source.code,
    `${source.name}: ${keyIn} is not possible with a JWT, which takes Authorization`,
    {
      hint: `send the key another way: --key-in ${allowed.join(', --key-in ')}`,
    },
  );
}

/** Typed looks at the values that won. */
function reader(given: Layer) {
  const value = <K extends ValueKind>(kind: K, key: string): ValueTypes[K] | undefined => {
    const one = given.get(key);
    return one && readValue(kind, String(one.value), sourceOf(one));
  };
  return {
    value,
    flag: (key: string) => value('switch', key) ?? false,
    timer(key: string) {
      const milliseconds = value(specOf(key).kind === 'timeout' ? 'timeout' : 'duration', key);
      return milliseconds && Math.min(milliseconds, LONGEST_TIMER);
    },
    choice(key: string) {
      const one = given.get(key);
      return one && readChoice(specOf(key).option?.choices ?? [], String(one.value), sourceOf(one));
    },
    count: (key: string) => countOf(specOf(key), given.get(key)),
  };
}

function countOf(spec: SettingSpec, given: Given | undefined): number {
  const text = String(given?.value);
  const count = parseCount(text) ?? Number.NaN;
  const [least, most] = spec.range ?? [0, Number.MAX_SAFE_INTEGER];
  if (count >= least && count <= most) return count;
  throw valueError(sourceOf(given), `must be ${wantedCount(spec)}`, text);
}

function specOf(key: string): SettingSpec {
  const spec = SETTINGS.find((one) => one.key === key);
  if (spec === undefined) throw new FilingsError('internal', `${key}: no such setting`);
  return spec;
}

function baseUrlOf(given: Layer): URL | undefined {
  const one = given.get('baseUrl');
  return one && parseBaseUrl(String(one.value), sourceOf(one));
}
