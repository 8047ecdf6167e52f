import { FilingsError } from '../errors.ts';
import { readFurtherClaims } from '../jwt/further-claims.ts';
import { readSigningKey } from '../jwt/key-file.ts';
import { requireFit } from '../jwt/key-fit.ts';
import { lineBreakWarning } from '../jwt/keys.ts';
import { DEFAULT_LIFETIME_SECONDS, type TokenRecipe } from '../jwt/minter.ts';
import { lifetimeWarning, type MintedToken, mintToken, type TokenPlan } from '../jwt/sign.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { parseDuration, parseTime, readValue, valueError } from '../settings/values.ts';
import { write } from '../terminal/output.ts';
import { printableJson } from '../terminal/printable.ts';
import type { World } from '../world.ts';
import type { Invocation } from './invocation.ts';
import { algorithmOf, keyFilesOf, tell, textOf, textsOf } from './token-options.ts';

/** Mints one token with what the flags say, over what the config file's `jwt` says where no key is named. */
export async function run(invocation: Invocation, world: World): Promise<number> {
  const { options, args } = invocation;
  if (args.length > 0) throw new FilingsError('usage', 'token sign: it takes no argument');
  if (options.header && options.json) throw new FilingsError('usage', '--header and --json: they exclude each other');
  const named = await keyFilesOf(invocation, world);
  const hasKey = named.keyFile !== undefined || named.secretFile !== undefined;
  const recipe = hasKey ? {} : await configuredRecipe(invocation, world);
  const wishes = wishesOf(invocation, recipe, Math.floor(world.now() / 1000));
  const alg = textOf(options.alg) ?? recipe.alg;
  const wanted = alg === undefined ? undefined : algorithmOf(alg);
  const key = await readSigningKey({ ...recipe, ...named }, world);
  const minted = await mintToken({ ...wishes, key, algorithm: requireFit(key, 'sign', wanted) });
  await tell(
    'warning',
    [lineBreakWarning(key), lifetimeWarning(wishes.lifetime), overWarning(wishes)],
    invocation,
    world,
  );
  await write(world.stdout, `${shown(minted, options)}\n`, world.interrupt);
  return 0;
}

type Wishes = Omit<TokenPlan, 'key' | 'algorithm'>;

/** @param issuedAt seconds since the epoch */
function wishesOf(invocation: Invocation, recipe: TokenRecipe, issuedAt: number): Wishes {
  const { options } = invocation;
  return {
    kid: textOf(options.kid) ?? recipe.kid,
    sub: textOf(options.sub) ?? recipe.sub,
    name: textOf(options.name) ?? recipe.name,
    issuedAt,
    notBefore: notBeforeOf(textOf(options.notBefore), issuedAt),
    lifetime: lifetimeOf(textOf(options.lifetime), recipe),
    further: furtherClaimsOf(invocation, recipe),
  };
}

function shown({ token, header, claims }: MintedToken, options: Invocation['options']): string {
  if (options.json) return printableJson({ token, header, claims });
  return options.header ? `Authorization: Bearer ${token}` : token;
}

/** @throws FilingsError `usage`, naming both ways */
async function configuredRecipe({ flags }: Invocation, world: World): Promise<TokenRecipe> {
  const { token } = (await resolveSettings(flags, world)).settings;
  if (token?.kind === 'recipe') return token.recipe;
  const instead = token === undefined ? '' : ': the settings name a token that is ready, not a key';
  throw new FilingsError('usage', `token sign: no key to sign with${instead}`, {
    hint: "give --key FILE or --secret-file FILE, or set 'jwt' in the config file",
  });
}

function furtherClaimsOf({ options }: Invocation, recipe: TokenRecipe) {
  const by = (flag: string) =>
    options[flag] !== undefined
      ? `--${flag}`
      : recipe[flag as 'sub' | 'name'] !== undefined
        ? "the config file's jwt"
        : undefined;
  return readFurtherClaims(textsOf(options.claim), textsOf(options.claimJson), { sub: by('sub'), name: by('name') });
}

function lifetimeOf(text: string | undefined, recipe: TokenRecipe): number {
  const milliseconds = text === undefined ? recipe.lifetime : readValue('duration', text, '--lifetime');
  if (milliseconds === undefined) return DEFAULT_LIFETIME_SECONDS;
  if (milliseconds >= 1000 && milliseconds % 1000 === 0) return milliseconds / 1000;
  const source = text === undefined ? "the config file's jwt.lifetime" : '--lifetime';
  throw valueError(source, 'must be whole seconds, and at least one', text ?? `${milliseconds}ms`);
}

/** Seconds since the epoch. */
function notBeforeOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  const milliseconds = duration === undefined ? parseTime(text) : now * 1000 + duration;
  if (milliseconds !== undefined && milliseconds >= 0) return Math.floor(milliseconds / 1000);
  throw valueError('--not-before', 'must be a duration, such as 30s, or a time, such as 2025-01-31T12:00:00Z', text);
}

function overWarning({ issuedAt, notBefore = issuedAt, lifetime }: Wishes): string | undefined {
  if (notBefore + lifetime > issuedAt) return undefined;
  return 'the token is expired already: its lifetime begins at --not-before';
}
