import type { TokenRecipe } from '../jwt/minter.ts';
import type { KeyWay } from '../service/credentials.ts';

/** Where a secret comes from; reading it is a later, separate step (`secret-source.ts`). */
export type KeySource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

export type TokenSource =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'recipe'; readonly recipe: TokenRecipe };

/** The resolved settings: typed, frozen; durations in milliseconds, paths absolute (`-` stays). */
export interface Settings {
  /** Ends in a slash and not in `/v1/`, so that `new URL('v1/download', baseUrl)` is an endpoint. */
  readonly baseUrl: URL | undefined;
  readonly key: KeySource | undefined;
  /** Undefined: not said, so the default that suits the credentials. */
  readonly keyIn: KeyWay | undefined;
  readonly keyHeader: string;
  readonly basicUser: string;
  readonly token: TokenSource | undefined;
  readonly sandbox: boolean;
  readonly allowHttp: boolean;
  readonly connectTimeout: number;
  readonly idleTimeout: number;
  readonly deadline: number | undefined;
  readonly retries: number;
  readonly maxRetryAfter: number;
  readonly jobs: number;
  /** Requests a second. */
  readonly rate: number | undefined;
  readonly color: 'auto' | 'always' | 'never';
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  readonly errorFormat: 'text' | 'json';
  readonly quiet: boolean;
  readonly verbose: boolean;
}
