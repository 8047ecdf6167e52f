import { FilingsError } from '../../errors.ts';
import { editConfigFile, noHome, settingNamed, valueForFile } from '../../settings/file/edit.ts';
import { locateConfig } from '../../settings/file/location.ts';
import type { NamedSetting } from '../../settings/table.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { readStdin } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { askHidden } from './prompt.ts';

/** `filings config set KEY [VALUE]`: into the config file, or into a profile of it with `--profile`. */
export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', given] = args;
  const spec = settingNamed(name);
  const text = given ?? (await askedFor(spec, world));
  if (spec.secret) world.secrets.add(text);
  const { location, profile } = locateConfig(flags, world);
  await editConfigFile(location, { spec, profile, value: valueForFile(spec, text, world.cwd) }, world);
  return 0;
}

/** A secret need not be typed on the command line. */
async function askedFor({ key, secret, inFile }: NamedSetting, world: World): Promise<string> {
  if (!secret || !inFile) {
    throw new FilingsError('usage', `config set ${key}: VALUE is missing`, { hint: 'see filings config set --help' });
  }
  if (world.stdin.isTTY) return askHidden(`${key}: `, world, world.interrupt);
  return (await readStdin(world.stdin, key, world.interrupt)).toString().replace(/\r?\n$/, '');
}

/** `filings config unset KEY`: out of the config file, or out of a profile of it with `--profile`. */
export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const spec = settingNamed(args[0] ?? '');
  const { location, profile } = locateConfig(flags, world);
  await editConfigFile(location, { spec, profile, value: undefined }, world);
  return 0;
}

/** `filings config path`: where the config file is, or would be. */
export async function path({ flags }: Invocation, world: World): Promise<number> {
  const { location } = locateConfig(flags, world);
  if (location.path === undefined) throw noHome();
  await write(world.stdout, `${printable(location.path)}\n`, world.interrupt);
  return 0;
}
