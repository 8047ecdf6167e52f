import { stat } from 'node:fs/promises';
import { replaceFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { chooseAlgorithm } from '../../jwt/key-fit.ts';
import { findLineBreakWarning, readJwtKey } from '../../jwt/keys.ts';
import { DEFAULT_LIFETIME, mintToken, type TokenRecipe } from '../../jwt/sign.ts';
import { resolveUserPath } from '../../paths.ts';
import { printMessage } from '../../session/presentation.ts';
import { locateConfig } from '../../settings/config-file.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags, Invocation } from '../../spec/command.ts';
import { writeText } from '../../stdio/byte-writer.ts';
import { write } from '../../stdio/output.ts';
import { isStreamPath, requireFilePath } from '../../stdio/output-path.ts';
import type { World } from '../../world.ts';
import { decodeTokenParts, resolveKeyFiles } from './common.ts';
import type { SIGN_OPTIONS } from './spec.ts';

/**
 * With a key on the command line, the recipe is not used at all. Without one, options override single members of it.
 */
export async function run(invocation: Invocation<typeof SIGN_OPTIONS>, world: World): Promise<number> {
  const { options, flags } = invocation;
  const hasKey = options.key !== undefined || options.secretFile !== undefined;
  const recipe: TokenRecipe = hasKey ? {} : await readConfiguredRecipe(flags, world);
  const out = options.out === undefined ? undefined : resolveUserPath(options.out, world);
  // Before the key is read from stdin, because somebody may have to paste it.
  if (options.out !== undefined) await requireFilePath('--out', options.out, world);
  const inputs = [recipe.keyFile, recipe.secretFile, options.key, options.secretFile, options.passphraseFile];
  if (out !== undefined) await refuseInput(out, [...inputs, locateConfig(flags, world).path], world);
  const optionFiles = await resolveKeyFiles(invocation, world);
  // A recipe has nothing for the passphrase of an encrypted key.
  const files = hasKey ? optionFiles : { ...recipe, passphraseFile: optionFiles.passphraseFile };
  const key = await readJwtKey(files, 'sign', world);
  const issuedAt = Math.floor(world.now() / 1000);
  const token = await mintToken({
    key,
    algorithm: chooseAlgorithm(key, 'sign', options.alg ?? recipe.alg),
    kid: options.kid ?? recipe.kid,
    sub: options.sub ?? recipe.sub,
    name: options.name ?? recipe.name,
    issuedAt,
    // The option may be a duration.
    notBefore: options.notBefore?.(issuedAt),
    lifetime: options.lifetime ?? recipe.lifetime ?? DEFAULT_LIFETIME,
    claims: [...options.claim, ...options.claimJson],
  });
  // Nothing is printed unless the key is an HMAC secret that ends in a line break.
  await printMessage('warning', findLineBreakWarning(key), flags, world);
  const { header, claims } = decodeTokenParts(token);
  // Header and claims are JSON already: parsing them could change numbers. A token has no character that must be
  // escaped.
  const text = options.json ? `{"token":"${token}","header":${header},"claims":${claims}}` : token;
  const httpPrefix = options.header ? 'Authorization: Bearer ' : '';
  const line = `${httpPrefix}${text}\n`;
  if (out === undefined) await write(world.stdout, line, world.interrupt);
  else if (await isStreamPath(out)) await writeText(out, line, world);
  else await replaceFile(out, line, world, { protection: 'private' });
  return 0;
}

/** Throws `usage` if the token would replace one of the files that are read. */
async function refuseInput(out: string, inputs: readonly (string | undefined)[], world: World): Promise<void> {
  // Equal for links of both kinds, and for other spellings on a case-insensitive file system.
  const identify = async (path: string) => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    return stats?.isFile() ? `${stats.dev}:${stats.ino}` : path;
  };
  for (const input of inputs) {
    if (input === undefined) continue;
    const path = input === '-' ? '/dev/stdin' : resolveUserPath(input, world);
    if ((await identify(path)) === (await identify(out)))
      throw new FilingsError('usage', `${out} is a file that this command reads`, {
        subject: { name: '--out' },
        hint: 'choose another file for the token',
      });
  }
}

/** A finished token in the settings is no recipe. */
async function readConfiguredRecipe(flags: Flags, world: World): Promise<TokenRecipe> {
  const { tokenSource } = (await resolveSettings(flags, world)).settings;
  if (tokenSource?.kind === 'recipe') return tokenSource.recipe;
  const setCommand = `filings config set jwt '{"keyFile":"FILE"}'`;
  throw new FilingsError('usage', 'no key to sign with', {
    subject: { name: 'token sign' },
    hint: `give --key FILE or --secret-file FILE, or set 'jwt' in the config file: ${setCommand}`,
  });
}
