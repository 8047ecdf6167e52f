import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { replaceFile } from '../../disk/replace-file.ts';
import { FilingsError } from '../../errors.ts';
import { requireAlgorithm } from '../../jwt/algorithms.ts';
import { type KeyFiles, readJwtKey } from '../../jwt/key-file.ts';
import { requireFit } from '../../jwt/key-fit.ts';
import { lineBreakWarning } from '../../jwt/keys.ts';
import { DEFAULT_LIFETIME_MS, RECIPE_ALG, RECIPE_LIFETIME, type TokenRecipe, wholeSeconds } from '../../jwt/minter.ts';
import { type FurtherClaim, mintToken, type TokenPlan } from '../../jwt/sign.ts';
import { structureFault } from '../../jwt/strict-token.ts';
import { configCommand } from '../../settings/hint-command.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { DURATION, TIME } from '../../spec/kind.ts';
import { type Values, valueError } from '../../spec/option.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { keyFilesOf, signedTexts, tell } from './common.ts';
import type { SIGN_OPTIONS } from './spec.ts';

/** The claims that the program sets itself, and what sets them. */
const DATES: Readonly<Record<string, string>> = {
  iat: 'it is always now',
  nbf: 'use --not-before',
  exp: 'use --lifetime',
};

/** Mints one token with what the flags say, over what the config file's `jwt` says where no key is named. */
export async function run(invocation: SignInvocation, world: World): Promise<number> {
  const { options, args } = invocation;
  if (args.length > 0) throw new FilingsError('usage', 'token sign: it takes no argument');
  if (options.out === '' || options.out === '-') {
    throw new FilingsError('usage', '--out: must be a file', { hint: 'without --out the token goes to stdout' });
  }
  const named = await keyFilesOf(invocation, world);
  const hasKey = named.keyFile !== undefined || named.secretFile !== undefined;
  const recipe: TokenRecipe = hasKey ? {} : await configuredRecipe(invocation, world);
  const wishes = wishesOf(invocation, recipe, Math.floor(world.now() / 1000));
  const alg = options.alg ?? recipe.alg;
  const wanted = alg === undefined ? undefined : requireAlgorithm(alg, options.alg ? '--alg' : RECIPE_ALG);
  const files = hasKey ? named : { ...named, keyFile: recipe.keyFile, secretFile: recipe.secretFile };
  const out = options.out === undefined ? undefined : resolve(world.cwd, options.out);
  if (out !== undefined) await requireOther(out, files);
  const key = await readJwtKey(files, 'sign', world);
  const { token } = await mintToken({ ...wishes, key, algorithm: requireFit(key, 'sign', wanted) });
  await tell('warning', [lineBreakWarning(key)], invocation, world);
  const text = `${shown(token, options)}\n`;
  if (out === undefined) await write(world.stdout, text, world.interrupt);
  else await replaceFile(out, text, 'name another file with --out');
  return 0;
}

/** A token in a key's place would be the end of the key. Throws `usage`. */
async function requireOther(out: string, { keyFile, secretFile, passphraseFile }: KeyFiles): Promise<void> {
  const real = (path: string) => realpath(path).catch(() => path);
  for (const path of [keyFile, secretFile, passphraseFile]) {
    if (path === undefined || (await real(path)) !== (await real(out))) continue;
    throw new FilingsError('usage', `--out: ${out} is the file that the key is read from`, {
      hint: 'name another file',
    });
  }
}

type SignInvocation = Invocation<typeof SIGN_OPTIONS>;
type Wishes = Omit<TokenPlan, 'key' | 'algorithm'>;

/** @param issuedAt seconds since the epoch */
function wishesOf({ options }: SignInvocation, recipe: TokenRecipe, issuedAt: number): Wishes {
  return {
    kid: options.kid ?? recipe.kid,
    sub: options.sub ?? recipe.sub,
    name: options.name ?? recipe.name,
    issuedAt,
    notBefore: notBeforeOf(options.notBefore, issuedAt),
    lifetime:
      options.lifetime === undefined
        ? wholeSeconds(recipe.lifetime ?? DEFAULT_LIFETIME_MS, RECIPE_LIFETIME)
        : wholeSeconds(options.lifetime, '--lifetime'),
    further: furtherClaimsOf(options, recipe),
  };
}

function shown(token: string, options: SignInvocation['options']): string {
  const { header, claims } = signedTexts(token);
  if (options.json) return `{"token":"${token}","header":${header},"claims":${claims}}`;
  return options.header ? `Authorization: Bearer ${token}` : token;
}

/** @throws FilingsError `usage`, naming both ways */
async function configuredRecipe({ flags }: SignInvocation, world: World): Promise<TokenRecipe> {
  const { token } = (await resolveSettings(flags, world)).settings;
  if (token?.kind === 'recipe') return token.recipe;
  const instead = token === undefined ? '' : ': the settings name a token that is ready, not a key';
  throw new FilingsError('usage', `token sign: no key to sign with${instead}`, {
    hint: `give --key FILE or --secret-file FILE, or set 'jwt' in the config file: ${configCommand(`filings config set jwt '{"keyFile":"FILE"}'`, flags)}`,
  });
}

/** Claims of `--claim` and `--claim-json`, each name once, with their JSON texts. Throws `usage`. */
function furtherClaimsOf(options: Values<typeof SIGN_OPTIONS>, recipe: TokenRecipe): readonly FurtherClaim[] {
  const claims = new Map<string, string>();
  const add = (flag: string, text: string, toJson: (value: string, what: string) => string) => {
    const at = text.indexOf('=');
    if (at <= 0) throw new FilingsError('usage', `${flag} ${text}: it must be NAME=VALUE`);
    const name = text.slice(0, at);
    const what = `${flag} ${name}`;
    if (Object.hasOwn(DATES, name))
      throw new FilingsError('usage', `${what}: the program sets it`, { hint: DATES[name] as string });
    if ((name === 'sub' || name === 'name') && (options[name] ?? recipe[name]) !== undefined) {
      const other = options[name] === undefined ? "the config file's jwt" : `--${name}`;
      throw new FilingsError('usage', `${what}: ${other} sets that claim already`);
    }
    if (claims.has(name)) throw new FilingsError('usage', `${what}: the claim is given twice`);
    claims.set(name, toJson(text.slice(at + 1), what));
  };
  for (const text of options.claim) add('--claim', text, (value) => JSON.stringify(value));
  for (const text of options.claimJson) add('--claim-json', text, checkedJson);
  return [...claims];
}

function checkedJson(json: string, what: string): string {
  const fault = structureFault(json);
  if (fault === undefined) return json.trim();
  const hint = 'a string needs its quotes, such as \'"text"\'; --claim takes text as it is';
  throw new FilingsError('usage', `${what}: the value ${fault}`, { hint });
}

/** Seconds since the epoch. */
function notBeforeOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const duration = DURATION.parse(text);
  const milliseconds = duration === undefined ? TIME.parse(text) : now * 1000 + duration;
  if (milliseconds !== undefined && milliseconds >= 0) return Math.floor(milliseconds / 1000);
  throw valueError('--not-before', 'must be a duration, such as 30s, or a time, such as 2025-01-31T12:00:00Z', text);
}
