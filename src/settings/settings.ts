import type { TokenRecipe } from '../jwt/minter.ts';
import type { SettingValues } from './table.ts';

/** Where a secret is; reading it is a later, separate step (`secrets/source.ts`). */
export type SecretPlace =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** Where it was given: `FILINGS_API_KEY`, `--api-key-file`, `/home/me/.config/filings/config.json: apiKey`. */
interface Given {
  readonly source: string;
}

export type KeySource = SecretPlace & Given;
export type TokenSource = (SecretPlace | { readonly kind: 'recipe'; readonly recipe: TokenRecipe }) & Given;

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
