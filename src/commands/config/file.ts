import { FilingsError } from '../../errors.ts';
import { editConfigFile, noHome, type SettingName, settingNamed, valueForFile } from '../../settings/file/edit.ts';
import { locateConfig } from '../../settings/file/location.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { readAll } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { askHidden } from './prompt.ts';

/** `filings config set KEY [VALUE]`: into the config file, or into a profile of it with `--profile`. */
export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', given] = args;
  const setting = settingNamed(name);
  const text = given ?? (await askedFor(setting, world));
  if (setting.spec.secret) world.secrets.add(text);
  const { location, profile } = locateConfig(flags, world);
  await editConfigFile(location, { ...setting, profile, value: valueForFile(setting, text, world.cwd) }, world);
  return 0;
}

/** A secret need not stand on the command line. */
async function askedFor({ spec, name }: SettingName, world: World): Promise<string> {
  if (!spec.secret || !spec.inFile) {
    throw new FilingsError('usage', `config set ${name}: VALUE is missing`, {
      hint: 'see filings config set --help',
    });
  }
  if (world.stdin.isTTY) return askHidden(`${spec.key}: `, world, world.interrupt);
  return (await readAll(world.stdin, spec.key, world.interrupt)).toString().replace(/\r?\n$/, '');
}

/** `filings config unset KEY`: out of the config file, or out of a profile of it with `--profile`. */
export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const setting = settingNamed(args[0] ?? '');
  const { location, profile } = locateConfig(flags, world);
  await editConfigFile(location, { ...setting, profile, value: undefined }, world);
  return 0;
}

/** `filings config path`: where the config file is, or would be. */
export async function path({ flags }: Invocation, world: World): Promise<number> {
  const { location } = locateConfig(flags, world);
  if (location.path === undefined) throw noHome();
  await write(world.stdout, `${printable(location.path)}\n`, world.interrupt);
  return 0;
}
