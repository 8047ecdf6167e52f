import { FilingsError } from '../errors.ts';
import type { Flags } from '../spec/command.ts';
import { configCommand } from './hint-command.ts';
import { findInLayers, type Layer } from './layers.ts';
import { SETTINGS } from './table.ts';

/** A key or token of the config file that must not be sent to this run's service. */
export interface ForeignCredential {
  readonly group: 'key' | 'token';
  readonly error: FilingsError;
}

const WORDS = {
  key: { name: 'API key', forRun: '--api-key-file FILE or FILINGS_API_KEY' },
  token: { name: 'JWT', forRun: '--jwt-file FILE or FILINGS_JWT' },
} as const;

/**
 * Returns the credentials that belong to another origin and are not sent. A credential of the config file belongs to
 * the origin of the base URL in the same level; a profile inherits the base URL of the top level. A credential from
 * flags or environment is sent to any origin.
 * @param inFile the layers of the config file, the profile's first
 * @param origin the origin that this run sends requests to
 */
export function findForeignCredentials(
  rawSettings: Layer,
  inFile: readonly Layer[],
  origin: string,
  { config }: Flags,
): readonly ForeignCredential[] {
  return SETTINGS.flatMap(({ key, group }) => {
    const credential = group && rawSettings.get(key);
    // Only values from the config file have a directory.
    if (!group || !credential?.directory) return [];
    const { profile, name: source } = credential;
    const baseUrl = String(findInLayers(profile === undefined ? inFile.slice(-1) : inFile, 'baseUrl')?.value);
    const owner = URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
    if (owner === origin) return [];
    const { name, forRun } = WORDS[group];
    const reason = owner === undefined ? 'no baseUrl is set beside it' : `the ${name} is for ${owner}`;
    const setUrl = configCommand(`filings config set base-url ${origin}`, { config, profile });
    const hint = owner === undefined ? `if it is for this host: ${setUrl}` : `for this host use ${forRun}`;
    const subject = { name: source };
    return [{ group, error: new FilingsError('config', `${reason}; not sent to ${origin}`, { subject, hint }) }];
  });
}
