import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { requireAlgorithm } from './algorithms.ts';
import { readJwtKey } from './key-file.ts';
import { requireFit } from './key-fit.ts';
import { lineBreakWarning } from './keys.ts';
import { type MintedToken, mintToken } from './sign.ts';

/** How tokens are to be made: the config file's `jwt`, its paths absolute. */
export interface TokenRecipe {
  readonly keyFile?: string;
  readonly secretFile?: string;
  readonly alg?: string;
  readonly kid?: string;
  readonly sub?: string;
  readonly name?: string;
  /** Milliseconds. */
  readonly lifetime?: number;
}

export interface Minter {
  /** A token that is valid now and stays so for a while: the last one, or the next. */
  readonly token: () => Promise<string>;
  /** What a person should know about the key. */
  readonly warning: string | undefined;
}

type MinterWorld = Pick<World, 'env' | 'uid' | 'interrupt' | 'secrets' | 'now' | 'sleep'>;

export const DEFAULT_LIFETIME_MS = 300_000;
export const RECIPE_LIFETIME = "the config file's jwt.lifetime";
export const RECIPE_ALG = "the config file's jwt.alg";
/** A token with less left than this, or than half its lifetime, is replaced: a request takes time to arrive. Milliseconds. */
const MARGIN_MS = 60_000;
/** One with less left than this could be expired when it arrives. Milliseconds. */
const MOMENT_MS = 300;
/** Older ones expired long ago, and are not worth redacting any more. */
const REMEMBERED_TOKENS = 8;

/**
 * Reads the key once, and mints tokens from it for as long as they are asked for. Each token is remembered as a secret.
 *
 * @throws FilingsError `config`: the key can't be read, does not fit, or the recipe is not sound
 */
export async function createMinter(recipe: TokenRecipe, world: MinterWorld): Promise<Minter> {
  const lifetime = wholeSeconds(recipe.lifetime ?? DEFAULT_LIFETIME_MS, RECIPE_LIFETIME, 'config');
  const wanted = recipe.alg === undefined ? undefined : requireAlgorithm(recipe.alg, RECIPE_ALG, 'config');
  const key = await readJwtKey(recipe, 'sign', world);
  const algorithm = requireFit(key, 'sign', wanted);
  const { kid, sub, name } = recipe;

  const minted: string[] = [];
  const remember = (token: string) => {
    world.secrets.add(token);
    minted.push(token);
    if (minted.length > REMEMBERED_TOKENS) world.secrets.forget(minted.shift() ?? '');
  };
  const mint = async (): Promise<MintedToken> => {
    const issuedAt = Math.floor(world.now() / 1000);
    const token = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    remember(token.token);
    return token;
  };
  const next = async (): Promise<MintedToken> => {
    const token = await mint();
    const left = millisecondsLeft(token, world);
    if (left >= MOMENT_MS) return token;
    // The shortest lifetime, late in a second: the next second's token lasts longer.
    await world.sleep(Math.max(left, 0), world.interrupt);
    return mint();
  };

  const margin = Math.min(MARGIN_MS, lifetime * 500);
  let current: MintedToken | undefined;
  let pending: Promise<MintedToken> | undefined;
  return {
    warning: lineBreakWarning(key),
    async token() {
      if (current !== undefined && isFresh(current, margin, world)) return current.token;
      pending ??= next().finally(() => {
        pending = undefined;
      });
      current = await pending;
      return current.token;
    },
  };
}

/** A clock that was set back makes a token one of the future: that is replaced as well. */
function isFresh(minted: MintedToken, margin: number, world: Pick<World, 'now'>): boolean {
  return millisecondsLeft(minted, world) > margin && (minted.claims.nbf as number) * 1000 <= world.now();
}

function millisecondsLeft({ claims }: MintedToken, { now }: Pick<World, 'now'>): number {
  return (claims.exp as number) * 1000 - now();
}

/** Milliseconds as whole seconds; `source` says where they are from, `code` whose fault others are. Throws that. */
export function wholeSeconds(milliseconds: number, source: string, code: 'usage' | 'config' = 'usage'): number {
  if (milliseconds >= 1000 && milliseconds % 1000 === 0) return milliseconds / 1000;
  throw new FilingsError(code, `${source}: must be whole seconds, and at least one`);
}
