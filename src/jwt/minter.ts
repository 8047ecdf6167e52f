import { readAs } from '../spec/option.ts';
import type { World } from '../world.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { readJwtKey } from './key-file.ts';
import { requireFit } from './key-fit.ts';
import { lineBreakWarning } from './keys.ts';
import { mintToken } from './sign.ts';

/** The member `jwt` of the config file, with absolute paths. */
export interface TokenRecipe {
  readonly keyFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly alg?: string;
  readonly kid?: string;
  readonly sub?: string;
  readonly name?: string;
  /** In seconds. */
  readonly lifetime?: number | undefined;
}

/** Lifetime of a token, in seconds. */
export const DEFAULT_LIFETIME = 300;
/**
 * A token is replaced when it has less than this left, or less than half its lifetime, because a request takes time to
 * arrive. In seconds.
 */
const MARGIN = 60;
/** The number of different tokens that are kept as secrets. Older ones have expired. */
const REMEMBERED_TOKENS = 8;

export function algorithmOf({ alg }: TokenRecipe): Algorithm | undefined {
  return alg === undefined ? undefined : readAs(ALGORITHM, alg, { name: "the config file's jwt.alg", code: 'config' });
}

/** Returns a minter, which reads the key once. Throws `config`. */
export async function createMinter(recipe: TokenRecipe, world: World) {
  const { kid, sub, name, lifetime = DEFAULT_LIFETIME } = recipe;
  const wanted = algorithmOf(recipe);
  const key = await readJwtKey(recipe, 'sign', world);
  const algorithm = requireFit(key, 'sign', wanted);
  const minted = new Set<string>();
  const mint = async (): Promise<string> => {
    const token = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    world.secrets.add(token);
    // A token of the same second may be the same text again. It becomes the newest one then.
    minted.delete(token);
    minted.add(token);
    const [oldest = ''] = minted;
    if (minted.size > REMEMBERED_TOKENS) {
      minted.delete(oldest);
      world.secrets.forget(oldest);
    }
    return token;
  };
  const margin = Math.min(MARGIN, lifetime / 2);
  let issuedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<string>;
  return {
    warning: lineBreakWarning(key),
    /** Returns a token that is valid for a while, the last one or a new one. */
    async token() {
      const now = world.now() / 1000;
      // If the clock was set back, the last token would be one of the future.
      if (issuedAt <= now && now < issuedAt + lifetime - margin) return current;
      issuedAt = Math.floor(now);
      current = mint();
      return current;
    },
  };
}
