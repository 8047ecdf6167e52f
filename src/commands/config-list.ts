import type { Given } from '../settings/layers.ts';
import { SETTINGS, type SettingSpec } from '../settings/options.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { write } from '../terminal/output.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { redacted } from '../terminal/redacted.ts';
import type { World } from '../world.ts';
import type { Invocation } from './invocation.ts';

/** `filings config list [--json]`: each value that is set, with where it came from. */
export async function run({ options, flags }: Invocation, world: World): Promise<number> {
  const { given } = await resolveSettings(flags, world, true);
  const rows = SETTINGS.flatMap((spec) => {
    const one = given.get(spec.key);
    return one === undefined ? [] : [{ spec, given: one, value: shownValue(spec, one) }];
  });
  const lines = rows.map(({ spec: { key }, given: { level, name }, value }) =>
    options.json
      ? printableJson(redacted({ key, value, level, origin: name }, world.secrets))
      : [key, asText(value), name].map((text) => printable(world.secrets.redact(text))).join('\t'),
  );
  await write(world.stdout, lines.map((line) => `${line}\n`).join(''), world.interrupt);
  return 0;
}

/** A secret is never shown, and what may hold one neither. */
function shownValue(spec: SettingSpec, { value }: Given): unknown {
  return spec.secret ? '[redacted]' : value;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
