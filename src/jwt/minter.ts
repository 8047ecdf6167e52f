import { readAs } from '../spec/option.ts';
import type { World } from '../world.ts';
import { ALGORITHM, type Algorithm } from './algorithms.ts';
import { readJwtKey } from './key-file.ts';
import { requireFit } from './key-fit.ts';
import { lineBreakWarning } from './keys.ts';
import { mintToken } from './sign.ts';

/** The config file's `jwt`, its paths absolute. */
export interface TokenRecipe {
  readonly keyFile?: string | undefined;
  readonly secretFile?: string | undefined;
  readonly alg?: string;
  readonly kid?: string;
  readonly sub?: string;
  readonly name?: string;
  /** Seconds. */
  readonly lifetime?: number | undefined;
}

/** Seconds. */
export const DEFAULT_LIFETIME = 300;
/** A token with less left than this, or than half its lifetime, is replaced: a request takes time to arrive. Seconds. */
const MARGIN = 60;
/** Older ones have expired. */
const REMEMBERED_TOKENS = 8;

export function algorithmOf({ alg }: TokenRecipe): Algorithm | undefined {
  return alg === undefined ? undefined : readAs(ALGORITHM, alg, { name: "the config file's jwt.alg", code: 'config' });
}

/** Reads the key once. Throws `config`. */
export async function createMinter(recipe: TokenRecipe, world: World) {
  const { kid, sub, name, lifetime = DEFAULT_LIFETIME } = recipe;
  const wanted = algorithmOf(recipe);
  const key = await readJwtKey(recipe, 'sign', world);
  const algorithm = requireFit(key, 'sign', wanted);
  const minted: string[] = [];
  const mint = async (): Promise<string> => {
    const token = await mintToken({ key, algorithm, kid, sub, name, issuedAt, lifetime });
    world.secrets.add(token);
    minted.push(token);
    if (minted.length > REMEMBERED_TOKENS) world.secrets.forget(minted.shift() ?? '');
    return token;
  };
  const margin = Math.min(MARGIN, lifetime / 2);
  let issuedAt = Number.NEGATIVE_INFINITY;
  let current: Promise<string>;
  return {
    warning: lineBreakWarning(key),
    /** Valid for a while: the last token, or the next. */
    async token() {
      const now = world.now() / 1000;
      // After a clock was set back the token would be one of the future.
      if (issuedAt <= now && now < issuedAt + lifetime - margin) return current;
      issuedAt = Math.floor(now);
      current = mint();
      return current;
    },
  };
}
