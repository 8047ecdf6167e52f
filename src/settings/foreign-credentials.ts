import { FilingsError } from '../errors.ts';
import { configCommand } from './hint-command.ts';
import { firstOf, type Given, type Layer } from './layers.ts';
import { SETTINGS } from './table.ts';

/** A credential of the config file that belongs to another origin than the one that this run asks. */
export interface ForeignCredential {
  readonly what: 'key' | 'token';
  /** `config`: whose it is, and how to give one for this host. */
  readonly error: FilingsError;
}

const WORDS = {
  key: { name: 'API key', forRun: '--api-key-file FILE or FILINGS_API_KEY', set: 'filings config set api-key' },
  token: { name: 'JWT', forRun: '--jwt-file FILE or FILINGS_JWT', set: 'filings config set jwt-file FILE' },
} as const;

/**
 * The credentials among those that won which are not to be sent. What the config file holds or names belongs to the
 * origin of its level's base URL, a profile inheriting the one at the top; what flags and environment give, goes where
 * the run goes.
 * @param inFile the config file's layers, a profile's first
 * @param flags for commands in hints
 */
export function foreignCredentials(
  given: Layer,
  inFile: readonly Layer[],
  { config }: Readonly<Record<string, unknown>>,
): readonly ForeignCredential[] {
  const baseUrl = given.get('baseUrl');
  const asked = originOf(baseUrl);
  if (baseUrl === undefined || asked === undefined) return [];
  return SETTINGS.flatMap(({ key, group }) => {
    const credential = group && given.get(key);
    // What has no directory is not from a file.
    if (!group || !credential?.directory) return [];
    const own = originOf(firstOf(credential.profile === undefined ? inFile.slice(-1) : inFile, 'baseUrl'));
    if (own === asked) return [];
    const { name, forRun, set } = WORDS[group];
    const inProfile = ({ profile }: Given) => ({ config, profile });
    const why = own === undefined ? 'no baseUrl is set beside it' : `the ${name} is for ${own}`;
    const setUrl = configCommand(`filings config set base-url ${asked}`, inProfile(credential));
    const setHere = baseUrl.profile === undefined ? '' : `, or ${configCommand(set, inProfile(baseUrl))}`;
    const hint = own === undefined ? `if it is for this host: ${setUrl}` : `for this host use ${forRun}${setHere}`;
    return [
      { what: group, error: new FilingsError('config', `${credential.name}: ${why}; not sent to ${asked}`, { hint }) },
    ];
  });
}

function originOf(baseUrl: Given | undefined): string | undefined {
  const text = String(baseUrl?.value);
  return URL.canParse(text) ? new URL(text).origin : undefined;
}
