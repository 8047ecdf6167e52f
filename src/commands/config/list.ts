import { REDACTED, redacted, type Secrets } from '../../secrets.ts';
import { writeRecords } from '../../session/records.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { FILE, TEXT } from '../../spec/kind.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Column } from '../../terminal/table.ts';
import type { World } from '../../world.ts';
import type { LIST_OPTIONS } from './spec.ts';

const COLUMNS: readonly Column[] = [
  { heading: 'KEY', name: true, least: 12 },
  { heading: 'VALUE', name: true, least: 12 },
  { heading: 'ORIGIN', least: 12 },
];

/** `filings config list [--json]`: every setting, with where its value came from. */
export async function run({ options, flags }: Invocation<typeof LIST_OPTIONS>, world: World): Promise<number> {
  const { given, settings } = await resolveSettings(flags, world);
  // With --sandbox those of the service say nothing.
  const rows = SETTINGS.filter(({ key, service }) => given.has(key) || !(service && settings.sandbox)).map((spec) => {
    const { value, level = null, name = null } = given.get(spec.key) ?? {};
    const shown = value === undefined ? null : shownValue(spec, value, world.secrets);
    return { key: spec.key, value: shown, level, origin: name };
  });
  if (options.json) {
    await write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
    return 0;
  }
  const cells = rows.map(({ key, value, origin }) =>
    [key, asText(value), origin ?? 'not set'].map((text) => printable(text)),
  );
  await writeRecords({ columns: COLUMNS, rows: cells }, flags, world);
  return 0;
}

/**
 * A secret is never shown, nor the arguments of a program that gives one; what is free text may hold one by mistake.
 * In JSON's own types.
 */
function shownValue({ secret, kind }: NamedSetting, value: unknown, secrets: Secrets): unknown {
  if (secret) return REDACTED;
  if (kind.json === 'words' && Array.isArray(value)) return [value[0], ...(value.length > 1 ? ['…'] : [])];
  if (kind.json === 'boolean' || kind.json === 'integer') return kind.parse(String(value)) ?? value;
  const isFreeText = kind === TEXT || kind === FILE || kind.json === 'recipe';
  return isFreeText ? redacted(value, secrets) : value;
}

function asText(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
