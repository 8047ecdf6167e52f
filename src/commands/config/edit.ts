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
 * Runs `config set KEY [VALUE]`, where KEY is the name of a setting. Throws `usage` for an unknown name or an invalid
 * value, `config` if the file or the change to it is invalid, and `local_io` if the file cannot be written.
 */
export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', value] = args;
  const setting = findFileSetting(name);
  const { spec } = setting;
  const typed = value ?? (await readSecretValue(spec, world));
  // A pipe often delivers a line break after the secret, as `echo` does.
  const text = spec.secret ? removeLineBreak(typed) : typed;
  // So that it is redacted if a message quotes it.
  if (spec.secret) world.secrets.add(text);
  const change = { path: setting.path, value: toFileValue(setting, text, world.cwd) };
  await editConfigFile(locateConfig(flags, world), change, world);
  return 0;
}

/** Throws `usage` for an unknown name, `config` if the file cannot be read, and `local_io` if it cannot be written. */
export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const { path } = findFileSetting(args[0] ?? '');
  await editConfigFile(locateConfig(flags, world), { path, value: undefined }, world);
  return 0;
}

/** Throws `config` if there is neither `--config` nor a home directory. */
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
