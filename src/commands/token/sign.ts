// Runs `token sign`, which mints one token: with a key on the command line, or by the recipe in the config file.
import { replaceFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { chooseAlgorithm } from '../../jwt/key-fit.ts';
import { findLineBreakWarning, readJwtKey } from '../../jwt/keys.ts';
import { DEFAULT_LIFETIME, mintToken, parseRecipeAlgorithm, type TokenRecipe } from '../../jwt/sign.ts';
import { resolveUserPath } from '../../paths.ts';
import { printMessage } from '../../session/presentation.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags, Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { decodeSignedParts, resolveKeyFiles } from './common.ts';
import type { SIGN_OPTIONS } from './spec.ts';

/**
 * Mints a token and prints it, or writes it to `--out`. Returns 0. With a key on the command line, the recipe (`jwt` in
 * the config file) is not used at all. Without one, options override single members of the recipe. Throws `usage` if
 * there is no key, or if `--out` would replace a file of the key or its passphrase. Also throws the errors of reading
 * the settings and the key, of minting and of writing.
 */
export async function run(invocation: Invocation<typeof SIGN_OPTIONS>, world: World): Promise<number> {
  const { options, flags } = invocation;
  const optionFiles = await resolveKeyFiles(invocation, world);
  const hasKey = optionFiles.keyFile !== undefined || optionFiles.secretFile !== undefined;
  const recipe = hasKey ? {} : await readConfiguredRecipe(flags, world);
  // A recipe has `keyFile` or `secretFile`, but nothing for the passphrase of an encrypted key. So `--passphrase-file`
  // also applies to the key of the recipe.
  const files = hasKey ? optionFiles : { ...recipe, passphraseFile: optionFiles.passphraseFile };
  const out = options.out === undefined ? undefined : resolveUserPath(options.out, world);
  if (out !== undefined && [files.keyFile, files.secretFile, files.passphraseFile].includes(out)) {
    throw new FilingsError('usage', `${out} is the file that the key is read from`, { subject: { name: '--out' } });
  }
  const key = await readJwtKey(files, 'sign', world);
  const issuedAt = Math.floor(world.now() / 1000);
  const token = await mintToken({
    key,
    algorithm: chooseAlgorithm(key, 'sign', options.alg ?? parseRecipeAlgorithm(recipe)),
    kid: options.kid ?? recipe.kid,
    sub: options.sub ?? recipe.sub,
    name: options.name ?? recipe.name,
    issuedAt,
    // A function of the time, because the option may be a duration.
    notBefore: options.notBefore?.(issuedAt),
    lifetime: options.lifetime ?? recipe.lifetime ?? DEFAULT_LIFETIME,
    claims: [...options.claim, ...options.claimJson],
  });
  // Prints nothing unless the key is an HMAC secret that ends in a line break.
  await printMessage('warning', findLineBreakWarning(key), flags, world);
  const { header, claims } = decodeSignedParts(token);
  // The header and the claims are JSON already. `JSON.stringify` would need parsed values, and parsing could change
  // numbers. A token has no character that must be escaped.
  const text = options.json ? `{"token":"${token}","header":${header},"claims":${claims}}` : token;
  const httpPrefix = options.header ? 'Authorization: Bearer ' : '';
  const line = `${httpPrefix}${text}\n`;
  if (out === undefined) await write(world.stdout, line, world.interrupt);
  // The mode of the file is 0600.
  else await replaceFile(out, line, world);
  return 0;
}

/** Throws `usage` if the settings have no token, or a finished one instead of a recipe. */
async function readConfiguredRecipe(flags: Flags, world: World): Promise<TokenRecipe> {
  const { tokenSource } = (await resolveSettings(flags, world)).settings;
  if (tokenSource?.kind === 'recipe') return tokenSource.recipe;
  const setCommand = `filings config set jwt '{"keyFile":"FILE"}'`;
  throw new FilingsError('usage', 'no key to sign with', {
    subject: { name: 'token sign' },
    hint: `give --key FILE or --secret-file FILE, or set 'jwt' in the config file: ${setCommand}`,
  });
}
