import { FilingsError } from '../../errors.ts';
import { REDACTED } from '../../secrets.ts';
import { settingNamed } from '../../settings/file/edit.ts';
import { configCommand } from '../../settings/hint-command.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

/** `filings config get KEY`: the value that counts, wherever it came from. A secret is not shown. */
export async function run({ args, flags }: Invocation, world: World): Promise<number> {
  const { key, secret } = settingNamed(args[0] ?? '');
  const { given } = await resolveSettings(flags, world);
  const value = given.get(key)?.value;
  if (value === undefined) {
    throw new FilingsError('not_found', `${key}: not set`, {
      hint: configCommand(`filings config set ${key} VALUE`, flags),
    });
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const shown = secret ? REDACTED : printable(text);
  await write(world.stdout, `${shown}\n`, world.interrupt);
  return 0;
}
