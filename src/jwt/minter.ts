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

type MinterWorld = Pick<World, 'env' | 'uid' | 'interrupt' | 'secrets' | 'now'>;

export const DEFAULT_LIFETIME_MS = 300_000;
export const RECIPE_LIFETIME = "the config file's jwt.lifetime";
export const RECIPE_ALG = "the config file's jwt.alg";
/** A token with less left than this, or than half its lifetime, is replaced: a request takes time to arrive. Milliseconds. */
const MARGIN_MS = 60_000;
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
  const mint = async (): Promise<MintedToken> => {
    const issuedAt = Math.floor(world.now() / 1000);
    const made = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    world.secrets.add(made.token);
    minted.push(made.token);
    if (minted.length > REMEMBERED_TOKENS) world.secrets.forget(minted.shift() ?? '');
    return made;
  };
  const margin = Math.min(MARGIN_MS, lifetime * 500);
  let current: Promise<MintedToken> | undefined;
  return {
    warning: lineBreakWarning(key),
    async token() {
      const last = current;
      const isOld = last === undefined || !isFresh(await last, margin, world);
      // All who ask at the same time get the same one.
      if (isOld && current === last) current = mint();
      return (await (current as Promise<MintedToken>)).token;
    },
  };
}

/** A clock that was set back makes a token one of the future: that is replaced as well. */
function isFresh({ claims }: MintedToken, margin: number, { now }: Pick<World, 'now'>): boolean {
  return Number(claims.exp) * 1000 - now() > margin && Number(claims.nbf) * 1000 <= now();
}

/** Milliseconds as whole seconds; `source` says where they are from, `code` whose fault others are. Throws that. */
export function wholeSeconds(milliseconds: number, source: string, code: 'usage' | 'config' = 'usage'): number {
  if (milliseconds >= 1000 && milliseconds % 1000 === 0) return milliseconds / 1000;
  throw new FilingsError(code, `${source}: must be whole seconds, and at least one`);
}
