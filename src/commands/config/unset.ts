import { editConfigFile, settingNamed } from '../../settings/file/edit.ts';
import { locateConfig } from '../../settings/file/location.ts';
import type { Invocation } from '../../spec/invocation.ts';
import type { World } from '../../world.ts';

/** `filings config unset KEY`: out of the config file, or out of a profile of it with `--profile`. */
export async function run({ args, flags }: Invocation, world: World): Promise<number> {
  const setting = settingNamed(args[0] ?? '');
  const { location, profile } = locateConfig(flags, world);
  await editConfigFile(location, { ...setting, profile, value: undefined }, world);
  return 0;
}
