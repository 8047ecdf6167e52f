import { REDACTED, redacted, type Secrets } from '../../secrets.ts';
import { writeRecords } from '../../session/records.ts';
import { type Resolved, resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { FILE, TEXT } from '../../spec/kind.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Column } from '../../terminal/table.ts';
import type { World } from '../../world.ts';
import type { LIST_OPTIONS } from './spec.ts';

const NOT_SET = 'not set';

const COLUMNS: readonly Column[] = [
  { heading: 'KEY', name: true, least: 12 },
  { heading: 'VALUE', name: true, least: 12 },
  { heading: 'ORIGIN', least: 12 },
  { heading: 'DEFAULT' },
];

/** A line of the list. */
interface Row {
  readonly key: string;
  /** null: not set. */
  readonly value: unknown;
  readonly level: string | null;
  readonly origin: string | null;
  readonly default: unknown;
}

/** `filings config list [--json]`: every setting with where its value came from and its default; then what the profiles hold. */
export async function run({ options, flags }: Invocation<typeof LIST_OPTIONS>, world: World): Promise<number> {
  const resolved = await resolveSettings(flags, world, true);
  rememberSecrets(resolved, world.secrets);
  const rows = [...settingRows(resolved, world.secrets), ...profileRows(resolved, world.secrets)];
  if (options.json) {
    await write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
    return 0;
  }
  const cells = rows.map((row) =>
    [row.key, asText(row.value), row.origin ?? NOT_SET, otherDefault(row)].map((text) => printable(text)),
  );
  await writeRecords({ columns: COLUMNS, rows: cells }, flags, world);
  return 0;
}

/** What is nobody's secret in one place may hold one that is named in another. */
function rememberSecrets({ given, profiles }: Resolved, secrets: Secrets): void {
  for (const { key } of SETTINGS.filter(({ secret }) => secret)) {
    const values = [given.get(key)?.value, ...Object.values(profiles).map((profile) => profile[key])];
    for (const value of values) if (typeof value === 'string') secrets.add(value);
  }
}

/** With `--sandbox` those of the service say nothing, and are not there. */
function settingRows({ given, settings }: Resolved, secrets: Secrets): readonly Row[] {
  return SETTINGS.filter(({ key, service }) => given.has(key) || !(service && settings.sandbox)).map((spec) => {
    const one = given.get(spec.key);
    const base = {
      key: spec.key,
      default: spec.default === undefined ? null : shownValue(spec, spec.default, secrets),
    };
    if (one === undefined) return { ...base, value: null, level: null, origin: null };
    return { ...base, value: shownValue(spec, one.value, secrets), level: one.level, origin: one.name };
  });
}

function profileRows({ profiles, configPath, settings }: Resolved, secrets: Secrets): readonly Row[] {
  return Object.entries(profiles).flatMap(([name, values]) => {
    const key = `profiles.${name}`;
    const base = { level: 'profile', default: null };
    const members = SETTINGS.filter((spec) => Object.hasOwn(values, spec.key) && !(spec.service && settings.sandbox));
    if (members.length === 0) return [{ ...base, key, value: null, origin: `${configPath}: ${key}` }];
    return members.map((spec) => {
      const member = `${key}.${spec.key}`;
      const value = shownValue(spec, values[spec.key], secrets);
      return { ...base, key: member, value, origin: `${configPath}: ${member}` };
    });
  });
}

/** What comes from the default shows it already. */
function otherDefault({ level, default: text }: Row): string {
  return level === 'default' ? '' : asText(text);
}

function asText(value: unknown): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A secret is never shown, nor the arguments of a program that gives one; what is free text may hold one by mistake. In JSON's own types. */
function shownValue({ secret, kind }: NamedSetting, value: unknown, secrets: Secrets): unknown {
  if (secret) return REDACTED;
  if (kind.json === 'words' && Array.isArray(value)) return [value[0], ...(value.length > 1 ? ['…'] : [])];
  if (kind.json === 'boolean' || kind.json === 'integer') return kind.parse(String(value)) ?? value;
  const isFreeText = kind === TEXT || kind === FILE || kind.json === 'recipe';
  return isFreeText ? redacted(value, secrets) : value;
}
