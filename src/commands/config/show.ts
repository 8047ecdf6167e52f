// Runs `config list` and `config get`. Both print effective values, whatever their source. A setting that is a secret,
// such as the API key, is printed as `[redacted]`.
import { FilingsError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import { REDACTED, redactJson, type Secrets } from '../../secrets.ts';
import { writeRecords } from '../../session/presentation.ts';
import { describeOtherSources, findFileSetting, findSetting } from '../../settings/config-edit.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { toKebabCase } from '../../spec/option.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';

export async function showAll({ flags }: Invocation, world: World): Promise<number> {
  // The values as they were written, by name, each with the source that took precedence. `resolveSettings` has also
  // parsed them, so all are valid.
  const { rawSettings } = await resolveSettings(flags, world);
  const rows = SETTINGS.map((spec) => {
    const { value = '', source = 'not set' } = rawSettings.get(spec.name) ?? {};
    return [spec.name, displayValue(spec, value, world.secrets), source].map((text) => printable(text));
  });
  await writeRecords(['KEY', 'VALUE', 'SOURCE'], rows, flags, world);
  return 0;
}

/**
 * Returns a cell of the table; `value` is '' for a setting that is not set. Hides a secret entirely, and the arguments
 * of `apiKeyCommand`, the only array, because one of them may be a secret. Any other value may contain a secret by
 * mistake, so known secrets in it are redacted. A setting with choices is exempt, because its value is one of them.
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
 * Prints one setting, or a member of one, such as `listing.files`. A secret setting is printed as `[redacted]`.
 * Any other value is printed in full and unredacted, unlike in the table of `showAll`, because scripts need the exact
 * value. That includes the arguments of `apiKeyCommand`. Throws `usage` for an unknown name, `not_found` if the setting
 * is not set, and what `resolveSettings` throws.
 */
export async function showOne({ args: [name = ''], flags }: Invocation, world: World): Promise<number> {
  // Only settings of the config file have members. Without a dot, the name can be that of any setting.
  const { spec, nameParts } = name.includes('.')
    ? findFileSetting(name)
    : { spec: findSetting(name), nameParts: [name] };
  const setting = (await resolveSettings(flags, world)).rawSettings.get(spec.name)?.value;
  // The first name in `nameParts` is the setting itself.
  const value = nameParts
    .slice(1)
    .reduce(
      (outer, member) => (isJsonObject(outer) && Object.hasOwn(outer, member) ? outer[member] : undefined),
      setting,
    );
  if (value === undefined) {
    const kebabName = [toKebabCase(spec.name), ...nameParts.slice(1)].join('.');
    const command = `filings config set ${kebabName}${spec.secret ? '' : ' VALUE'}`;
    const hint = `set it with ${spec.inFile ? command : describeOtherSources(spec)}`;
    throw new FilingsError('not_found', 'not set', { subject: { name }, hint });
  }
  const text = spec.secret ? REDACTED : toText(value);
  await write(world.stdout, `${printable(text)}\n`, world.interrupt);
  return 0;
}
