import { FilingsError } from '../../errors.ts';
import { printMessage } from '../../session/presentation.ts';
import { editConfigFile, findPlaceInFile, toFileValue } from '../../settings/config-edit.ts';
import { locateConfig, noConfigPathError } from '../../settings/config-file.ts';
import { readSecretFromStdin } from '../../settings/read-secret.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { removeLineBreak } from '../../text.ts';
import type { World } from '../../world.ts';
import { displayValue } from './show.ts';

export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', value] = args;
  const place = findPlaceInFile(name);
  const { spec, kind, fullName } = place;
  if (value === undefined && !spec.secret) {
    const details = { subject: { name: `config set ${spec.name}` }, hint: 'see filings config set --help' };
    throw new FilingsError('usage', 'VALUE is missing', details);
  }
  // The API key is the only secret that the config file can hold.
  const given = value ?? (await readSecretFromStdin('API key', world));
  // A pipe often delivers a line break after the secret, as `echo` does.
  const text = spec.secret ? removeLineBreak(given) : given;
  // Registered, because a message may quote it.
  if (spec.secret) world.secrets.add(text);
  const stored = toFileValue(place, text, world.cwd);
  const location = locateConfig(flags, world);
  await editConfigFile(location, place, stored, world);
  const prefix = location.profile === undefined ? '' : `profiles.${location.profile}.`;
  const shown = displayValue({ ...spec, kind }, stored, world.secrets);
  await printMessage('note', `set ${prefix}${fullName} to ${shown} in ${location.path}`, flags, world);
  return 0;
}

export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  // It is no error if the file does not have the member.
  await editConfigFile(locateConfig(flags, world), findPlaceInFile(args[0] ?? ''), undefined, world);
  return 0;
}

export async function printPath({ flags }: Invocation, world: World): Promise<number> {
  const { path: file } = locateConfig(flags, world);
  if (file === undefined) throw noConfigPathError();
  await write(world.stdout, `${printable(file)}\n`, world.interrupt);
  return 0;
}
