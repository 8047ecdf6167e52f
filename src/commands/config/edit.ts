// Runs `config set` and `config unset`, which edit the config file, and `config path`.
import { FilingsError } from '../../errors.ts';
import { editConfigFile, findFileSetting, toFileValue } from '../../settings/config-edit.ts';
import { locateConfig, noConfigPathError } from '../../settings/config-file.ts';
import { readSecretFromStdin, removeLineBreak } from '../../settings/read-secret.ts';
import type { NamedSetting } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

/**
 * Runs `config set KEY [VALUE]`, where KEY is the name of a setting, or of a member of one, such as `listing.files`.
 * Throws `usage` for an unknown name or an invalid value, `config` if there is no config file to edit (with `--config
 * /dev/null`, or if no home directory is known), or if it cannot be read or would become invalid, and `local_io` if it
 * cannot be written.
 */
export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', value] = args;
  const target = findFileSetting(name);
  const { spec } = target;
  const given = value ?? (await readSecretValue(spec, world));
  // A pipe often delivers a line break after the secret, as `echo` does.
  const text = spec.secret ? removeLineBreak(given) : given;
  // So that it is redacted if a message quotes it.
  if (spec.secret) world.secrets.add(text);
  const change = { nameParts: target.nameParts, value: toFileValue(target, text, world.cwd) };
  await editConfigFile(locateConfig(flags, world), change, world);
  return 0;
}

/**
 * Throws `usage` for an unknown name, `config` if there is no config file to edit (see `set`) or it cannot be read, and
 * `local_io` if it cannot be written.
 */
export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const { nameParts } = findFileSetting(args[0] ?? '');
  // The undefined value removes the member. It is no error if the file does not have it.
  await editConfigFile(locateConfig(flags, world), { nameParts, value: undefined }, world);
  return 0;
}

/** Throws `config` if there is no path: with `--config /dev/null`, or if no home directory is known. */
export async function printPath({ flags }: Invocation, world: World): Promise<number> {
  const { path: file } = locateConfig(flags, world);
  if (file === undefined) throw noConfigPathError();
  await write(world.stdout, `${printable(file)}\n`, world.interrupt);
  return 0;
}

/** Reads a secret from a hidden prompt or stdin. Throws `usage` for any other setting, whose VALUE is required. */
async function readSecretValue({ name, secret }: NamedSetting, world: World): Promise<string> {
  if (!secret) {
    throw new FilingsError('usage', 'VALUE is missing', {
      subject: { name: `config set ${name}` },
      hint: 'see filings config set --help',
    });
  }
  // The API key is the only secret that the config file can hold.
  return readSecretFromStdin('API key', world);
}
