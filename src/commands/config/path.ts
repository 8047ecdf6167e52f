import { noHome } from '../../settings/file/edit.ts';
import { locateConfig } from '../../settings/file/location.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

/** `filings config path`: where the config file is, or would be. */
export async function run({ flags }: Invocation, world: World): Promise<number> {
  const { path } = locateConfig(flags, world).location;
  if (path === undefined) throw noHome();
  await write(world.stdout, `${printable(path)}\n`, world.interrupt);
  return 0;
}
