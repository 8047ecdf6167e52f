import { REDACTED, type Secrets } from '../../secrets/secrets.ts';
import type { Given } from '../../settings/layers.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import { type NamedSetting, SETTINGS } from '../../settings/table.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { FILE, PROFILE, TEXT } from '../../spec/kind.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { redacted } from '../../terminal/redacted.ts';
import type { World } from '../../world.ts';
import type { LIST_OPTIONS } from './spec.ts';

/** `filings config list [--json]`: each value that is set, with where it came from. */
export async function run({ options, flags }: Invocation<typeof LIST_OPTIONS>, world: World): Promise<number> {
  const { given } = await resolveSettings(flags, world, true);
  for (const { key, secret } of SETTINGS) {
    const value = given.get(key)?.value;
    if (secret && typeof value === 'string') world.secrets.add(value);
  }
  const lines = SETTINGS.flatMap((spec) => {
    const one = given.get(spec.key);
    if (one === undefined) return [];
    const value = shownValue(spec, one, world.secrets);
    const { level, name: origin } = one;
    return options.json
      ? printableJson({ key: spec.key, value, level, origin })
      : [spec.key, asText(value), origin].map((text) => printable(text)).join('\t');
  });
  await write(world.stdout, lines.map((line) => `${line}\n`).join(''), world.interrupt);
  return 0;
}

/** A secret is never shown, nor the arguments of a program that gives one; what is free text may hold one by mistake. */
function shownValue({ secret, kind }: NamedSetting, { value }: Given, secrets: Secrets): unknown {
  if (secret) return REDACTED;
  if (kind.json === 'words' && Array.isArray(value)) return [value[0], ...(value.length > 1 ? ['…'] : [])];
  const isFreeText = kind === TEXT || kind === FILE || kind === PROFILE || kind.json === 'recipe';
  return isFreeText ? redacted(value, secrets) : value;
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
