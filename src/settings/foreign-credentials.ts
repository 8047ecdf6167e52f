import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { configCommand } from './hint-command.ts';
import { firstOf, type Layer } from './layers.ts';
import { SETTINGS } from './table.ts';

export interface ForeignCredential {
  readonly what: 'key' | 'token';
  readonly error: FilingsError;
}

const WORDS = {
  key: { name: 'API key', forRun: '--api-key-file FILE or FILINGS_API_KEY' },
  token: { name: 'JWT', forRun: '--jwt-file FILE or FILINGS_JWT' },
} as const;

/**
 * Those that won and are not to be sent. What the config file holds or names belongs to the origin of its level's base
 * URL, a profile inheriting the one at the top; what flags and environment give, goes where the run goes.
 * @param inFile the config file's layers, a profile's first
 */
export function foreignCredentials(
  given: Layer,
  inFile: readonly Layer[],
  asked: string,
  { config }: Flags,
): readonly ForeignCredential[] {
  return SETTINGS.flatMap(({ key, group }) => {
    const credential = group && given.get(key);
    // What has no directory is not from a file.
    if (!group || !credential?.directory) return [];
    const { profile, name: source } = credential;
    const own = String(firstOf(profile === undefined ? inFile.slice(-1) : inFile, 'baseUrl')?.value);
    const origin = URL.canParse(own) ? new URL(own).origin : undefined;
    if (origin === asked) return [];
    const { name, forRun } = WORDS[group];
    const why = origin === undefined ? 'no baseUrl is set beside it' : `the ${name} is for ${origin}`;
    const setUrl = configCommand(`filings config set base-url ${asked}`, { config, profile });
    const hint = origin === undefined ? `if it is for this host: ${setUrl}` : `for this host use ${forRun}`;
    return [
      {
        what: group,
        error: new FilingsError('config', `${why}; not sent to ${asked}`, { subject: { name: source }, hint }),
      },
    ];
  });
}
