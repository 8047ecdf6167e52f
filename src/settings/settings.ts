import { FilingsError } from '../errors.ts';
import { readAs } from '../spec/option.ts';
import { checkBaseUrl, parseBaseUrl } from './base-url.ts';
import { basicUserOf, type KeySource, keyHeaderOf, keyOf, type TokenSource, tokenOf } from './credentials.ts';
import { type Given, type Layer, sourceOf } from './layers.ts';
import { KEY_WAYS, type NamedSetting, SETTINGS, type SettingValues } from './table.ts';

/** What says where the file is, and the sources of the key and of the JWT, which become one setting each. */
type Gone = 'config' | 'profile' | 'apiKey' | 'apiKeyFile' | 'apiKeyCommand' | 'jwtFile' | 'jwtToken' | 'jwt';

/**
 * The resolved settings: frozen, each of the type that its record in the table has; durations in milliseconds, paths
 * absolute (`-` stays). `keyIn` undefined: not said, so the default that suits the credentials.
 */
export interface Settings extends Omit<SettingValues, Gone | 'baseUrl'> {
  /** Ends in a slash and not in `/v1/`, so that `new URL('v1/download', baseUrl)` is an endpoint. */
  readonly baseUrl: URL | undefined;
  readonly key: KeySource | undefined;
  readonly token: TokenSource | undefined;
}

/**
 * The values that won, read and checked.
 * @throws FilingsError `usage` or `config`, naming the source of what is wrong
 */
export function readSettings(given: Layer): Settings {
  const values = Object.fromEntries(
    SETTINGS.map((spec) => [spec.key, readGiven(spec, given.get(spec.key))]),
  ) as unknown as SettingValues;
  const { config: _, profile: __, apiKey, apiKeyFile, apiKeyCommand, jwtFile, jwtToken, jwt, ...others } = values;
  const settings: Settings = Object.freeze({
    ...others,
    baseUrl: baseUrlOf(given),
    keyHeader: keyHeaderOf(given),
    basicUser: basicUserOf(given),
    key: keyOf(given),
    token: tokenOf(given),
  });
  checkTogether(settings, given);
  return settings;
}

/** What a setting was given as, as its kind reads it; what is no text in the config file was checked there. */
function readGiven({ kind }: NamedSetting, given: Given | undefined): unknown {
  if (given === undefined) return kind.json === 'boolean' ? false : undefined;
  const isData = kind.json === 'words' || kind.json === 'recipe';
  return isData ? given.value : readAs(kind, String(given.value), sourceOf(given));
}

/** Rules about more than one setting. */
function checkTogether(settings: Settings, given: Layer): void {
  if (settings.quiet && settings.verbose) {
    throw new FilingsError('usage', '--quiet cannot be used with --verbose');
  }
  if (settings.baseUrl !== undefined) checkBaseUrl(settings.baseUrl, settings.allowHttp);
  const { keyIn, token } = settings;
  if (token === undefined || (keyIn !== 'authorization' && keyIn !== 'basic')) return;
  // Contract part 5, rule 1.
  const allowed = KEY_WAYS.filter((way) => way !== 'authorization' && way !== 'basic');
  const source = sourceOf(given.get('keyIn'));
  throw new FilingsError(
    source.code,
    `${source.name}: ${keyIn} cannot be used with a JWT, which is sent in Authorization`,
    {
      hint: `send the key another way: --key-in ${allowed.join(', --key-in ')}`,
    },
  );
}

function baseUrlOf(given: Layer): URL | undefined {
  const one = given.get('baseUrl');
  return one && parseBaseUrl(String(one.value), sourceOf(one));
}
