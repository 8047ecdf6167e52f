import { stat } from 'node:fs/promises';
import { replaceFile } from '../../disk/atomic-write.ts';
import { FilingsError } from '../../errors.ts';
import { readJwtKey } from '../../jwt/keys.ts';
import { mintToken, type TokenRecipe } from '../../jwt/sign.ts';
import { printMessage } from '../../session/presentation.ts';
import { locateConfig } from '../../settings/config-file.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags, Invocation } from '../../spec/command.ts';
import { write, writeText } from '../../stdio/output.ts';
import { isStreamPath, resolveFilePath } from '../../stdio/output-path.ts';
import type { World } from '../../world.ts';
import { readKeyOptions } from './inputs.ts';
import { printableParts } from './results.ts';
import type { SIGN_OPTIONS } from './spec.ts';

export async function run(invocation: Invocation<typeof SIGN_OPTIONS>, world: World): Promise<number> {
  const { options, flags } = invocation;
  const given = readKeyOptions(invocation, world);
  // With a key on the command line, the recipe is not used at all. Without one, options override single members of it.
  const recipe: TokenRecipe = given.key ? { key: given.key } : await readConfiguredRecipe(flags, world);
  const inputs = [recipe.key.path ?? '/dev/stdin', given.passphraseFile, locateConfig(flags, world).path];
  // Before the key is read from stdin, because somebody may have to paste it.
  const outPath = options.out === undefined ? undefined : await resolveOutput(options.out, inputs, world);
  const warn = (text: string) => printMessage('warning', text, flags, world);
  const key = await readJwtKey(recipe.key, 'sign', world, warn, given.passphraseFile);
  const issuedAt = Math.floor(world.now() / 1000);
  const token = await mintToken(key, {
    alg: options.alg ?? recipe.alg,
    kid: options.kid ?? recipe.kid,
    sub: options.sub ?? recipe.sub,
    name: options.name ?? recipe.name,
    issuedAt,
    notBefore: options.notBefore?.(issuedAt),
    lifetime: options.lifetime ?? recipe.lifetime,
    claims: [...options.claim, ...options.claimJson],
  });
  const { header, claims } = printableParts(token);
  const text = options.json ? `{"token":"${token}","header":${header},"claims":${claims}}` : token;
  await writeOutput(outPath, `${options.header ? 'Authorization: Bearer ' : ''}${text}\n`, world);
  return 0;
}

/** Throws `usage` if the path is a directory, or one of the files that are read. */
async function resolveOutput(out: string, inputs: readonly (string | undefined)[], world: World): Promise<string> {
  const outPath = await resolveFilePath('--out', out, world);
  // Equal for links of both kinds, and for other spellings on a case-insensitive file system.
  const identify = async (path: string) => {
    const stats = await stat(path, { bigint: true }).catch(() => undefined);
    return stats?.isFile() ? `${stats.dev}:${stats.ino}` : path;
  };
  const sources = await Promise.all(inputs.map((path) => path && identify(path)));
  if (!sources.includes(await identify(outPath))) return outPath;
  const details = { subject: { name: '--out' }, hint: 'choose another file for the token' };
  throw new FilingsError('usage', `${out} is a file that this command reads`, details);
}

async function writeOutput(path: string | undefined, line: string, world: World): Promise<void> {
  if (path === undefined) return write(world.stdout, line, world.interrupt);
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
