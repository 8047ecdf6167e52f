import { FilingsError } from '../../errors.ts';
import { editConfigFile, findFileSetting, findSetting, toFileValue } from '../../settings/config-edit.ts';
import { locateConfig, noConfigPathError } from '../../settings/config-file.ts';
import type { NamedSetting } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

/** Runs `config set`. Returns 0. Throws `usage` for an unknown key or an invalid value, and `local_io`. */
export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', value] = args;
  const spec = findFileSetting(name);
  const text = value ?? (await readSecretValue(spec, world));
  if (spec.secret) world.secrets.add(text);
  await editConfigFile(locateConfig(flags, world), spec.key, toFileValue(spec, text, world.cwd), world);
  return 0;
}

/** Runs `config unset`. Returns 0. Throws `usage` for an unknown key, and `local_io`. */
export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const { key } = findSetting(args[0] ?? '', true);
  await editConfigFile(locateConfig(flags, world), key, undefined, world);
  return 0;
}

/** Runs `config path`. Returns 0. Throws `config` if neither `--config` nor a home directory gives the path. */
export async function path({ flags }: Invocation, world: World): Promise<number> {
  const { path: file } = locateConfig(flags, world);
  if (file === undefined) throw noConfigPathError();
  await write(world.stdout, `${printable(file)}\n`, world.interrupt);
  return 0;
}

/** Returns the value of a secret from a hidden prompt or stdin. Throws `usage` if the setting is no secret. */
async function readSecretValue({ key, secret }: NamedSetting, world: World): Promise<string> {
  if (!secret) {
    throw new FilingsError('usage', 'VALUE is missing', {
      subject: { name: `config set ${key}` },
      hint: 'see filings config set --help',
    });
  }
  if (world.stdin.isTTY) return (await import('../../stdio/prompt.ts')).askHidden(key, world);
  return (await readStdin(world.stdin, key, world.interrupt)).toString().replace(/\r?\n$/, '');
}
