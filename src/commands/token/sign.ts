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
import { write, writeText } from '../../stdio/output.ts';
import { isStreamPath, requireFilePath } from '../../stdio/output-path.ts';
import type { World } from '../../world.ts';
import { resolveKeyFiles } from './inputs.ts';
import { decodeTokenParts } from './results.ts';
import type { SIGN_OPTIONS } from './spec.ts';

export async function run(invocation: Invocation<typeof SIGN_OPTIONS>, world: World): Promise<number> {
  const { options, flags } = invocation;
  const given = resolveKeyFiles(invocation, world);
  const hasKey = given.keyFile !== undefined || given.secretFile !== undefined;
  // With a key on the command line, the recipe is not used at all. Without one, options override single members of it.
  const recipe: TokenRecipe = hasKey ? given : await readConfiguredRecipe(flags, world);
  const files = { keyFile: recipe.keyFile, secretFile: recipe.secretFile, passphraseFile: given.passphraseFile };
  // Before the key is read from stdin, because somebody may have to paste it.
  if (options.out !== undefined)
    await requireOutput(options.out, [...Object.values(files), locateConfig(flags, world).path], world);
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
  await printMessage('warning', findLineBreakWarning(key), flags, world);
  const { header, claims } = decodeTokenParts(token);
  const text = options.json ? `{"token":"${token}","header":${header},"claims":${claims}}` : token;
  await writeOutput(options.out, `${options.header ? 'Authorization: Bearer ' : ''}${text}\n`, world);
  return 0;
}

/** Throws `usage` if the path is a directory, or one of the files that are read. */
async function requireOutput(out: string, inputs: readonly (string | undefined)[], world: World): Promise<void> {
  await requireFilePath('--out', out, world);
  // Equal for links of both kinds, and for other spellings on a case-insensitive file system.
  const identify = async (path: string) => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    return stats?.isFile() ? `${stats.dev}:${stats.ino}` : path;
  };
  const paths = inputs.flatMap((path) => (path === '-' ? '/dev/stdin' : (path ?? [])));
  const sources = await Promise.all(paths.map(identify));
  if (!sources.includes(await identify(resolveUserPath(out, world)))) return;
  const details = { subject: { name: '--out' }, hint: 'choose another file for the token' };
  throw new FilingsError('usage', `${out} is a file that this command reads`, details);
}

async function writeOutput(out: string | undefined, line: string, world: World): Promise<void> {
  if (out === undefined) return write(world.stdout, line, world.interrupt);
  const path = resolveUserPath(out, world);
  if (await isStreamPath(path)) await writeText(path, line, world);
  else await replaceFile(path, line, world, { protection: 'private' });
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
