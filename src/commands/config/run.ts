// `config list` and `config get` print effective values, whatever their source. The others are about the config file.
import { FilingsError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import { REDACTED, redactJson, type Secrets } from '../../secrets.ts';
import { printMessage, writeRecords } from '../../session/presentation.ts';
import {
  describeOtherSources,
  editConfigFile,
  findPlaceInFile,
  findSettingPlace,
  toFileValue,
} from '../../settings/config-edit.ts';
import { locateConfig, noConfigPathError } from '../../settings/config-file.ts';
import { readSecretFromStdin } from '../../settings/read-secret.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { toKebabCase } from '../../spec/option.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { removeLineBreak } from '../../text.ts';
import type { World } from '../../world.ts';

export async function showAll({ flags }: Invocation, world: World): Promise<number> {
  const { rawSettings } = await resolveSettings(flags, world);
  const rows = SETTINGS.map((spec) => {
    const { value = '', setBy = 'not set' } = rawSettings.get(spec.name) ?? {};
    return [spec.name, displayValue(spec, value, world.secrets), setBy].map((text) => printable(text));
  });
  await writeRecords(['KEY', 'VALUE', 'SOURCE'], rows, flags, world);
  return 0;
}

/**
 * Hides a secret, and the arguments of `apiKeyCommand`, the only array, because one of them may be a secret. Any other
 * value may contain a secret by mistake, so known secrets in it are redacted.
 */
function displayValue({ secret, kind }: NamedSetting, value: unknown, secrets: Secrets): string {
  if (secret && value !== '') return REDACTED;
  if (Array.isArray(value)) return value.length > 1 ? `${value[0]} …` : `${value[0]}`;
  return toText(kind.choices ? value : redactJson(value, secrets));
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Unlike in the table of `showAll`, a value that is no secret is printed unredacted, even the arguments of
 * `apiKeyCommand`, because scripts need the exact value.
 */
export async function showOne({ args: [name = ''], flags }: Invocation, world: World): Promise<number> {
  const { spec, member } = findSettingPlace(name);
  const setting = (await resolveSettings(flags, world)).rawSettings.get(spec.name)?.value;
  const value = member === undefined ? setting : isJsonObject(setting) ? setting[member] : undefined;
  if (value === undefined) {
    const command = `filings config set ${toKebabCase(spec.name)}${member === undefined ? '' : `.${member}`}${spec.secret ? '' : ' VALUE'}`;
    const hint = `set it with ${spec.inFile ? command : describeOtherSources(spec)}`;
    throw new FilingsError('not_found', 'not set', { subject: { name }, hint });
  }
  const text = spec.secret ? REDACTED : toText(value);
  await write(world.stdout, `${printable(text)}\n`, world.interrupt);
  return 0;
}

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
