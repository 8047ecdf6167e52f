import { FilingsError } from '../../errors.ts';
import { REDACTED, redacted, type Secrets } from '../../secrets.ts';
import { writeRecords } from '../../session/presentation.ts';
import { settingNamed } from '../../settings/config-edit.ts';
import { configCommand } from '../../settings/hint-command.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import type { LIST_OPTIONS } from './spec.ts';

export async function showAll({ options, flags }: Invocation<typeof LIST_OPTIONS>, world: World): Promise<number> {
  const { given, settings } = await resolveSettings(flags, world, true);
  // With --sandbox those of the service say nothing.
  const rows = SETTINGS.filter(({ key, service }) => given.has(key) || !(service && settings.sandbox)).map((spec) => {
    const { value, level = null, name = null } = given.get(spec.key) ?? {};
    return {
      key: spec.key,
      value: value === undefined ? null : shown(spec, value, world.secrets),
      level,
      origin: name,
    };
  });
  if (options.json) {
    await write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
    return 0;
  }
  const cells = rows.map(({ key, value, origin }) =>
    [key, asText(value ?? ''), origin ?? 'not set'].map((text) => printable(text)),
  );
  await writeRecords(['KEY', 'VALUE', 'ORIGIN'], cells, flags, world);
  return 0;
}

/**
 * A secret is never shown, nor the arguments of a program that gives one; any other text that a user writes may hold one
 * by mistake. In JSON's own types.
 */
function shown({ secret, kind }: NamedSetting, value: unknown, secrets: Secrets): unknown {
  if (secret) return REDACTED;
  if (Array.isArray(value)) return value.length > 1 ? [value[0], '…'] : value;
  if (kind.json === 'boolean' || kind.json === 'integer') return kind.parse(String(value));
  return kind.choices ? value : redacted(value, secrets);
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export async function showOne({ args, flags }: Invocation, world: World): Promise<number> {
  const { key, secret } = settingNamed(args[0] ?? '');
  const value = (await resolveSettings(flags, world, true)).given.get(key)?.value;
  if (value === undefined) {
    const hint = configCommand(`filings config set ${key} VALUE`, flags);
    throw new FilingsError('not_found', 'not set', { subject: { name: key }, hint });
  }
  const text = secret ? REDACTED : typeof value === 'string' ? value : JSON.stringify(value);
  await write(world.stdout, `${printable(text)}\n`, world.interrupt);
  return 0;
}
