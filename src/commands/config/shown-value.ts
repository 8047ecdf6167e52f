import { REDACTED, type Secrets } from '../../secrets.ts';
import type { NamedSetting } from '../../settings/table.ts';
import { FILE, TEXT } from '../../spec/kind.ts';
import { redacted } from '../../terminal/redacted.ts';

/** A secret is never shown, nor the arguments of a program that gives one; what is free text may hold one by mistake. In JSON's own types. */
export function shownValue({ secret, kind }: NamedSetting, value: unknown, secrets: Secrets): unknown {
  if (secret) return REDACTED;
  if (kind.json === 'words' && Array.isArray(value)) return [value[0], ...(value.length > 1 ? ['…'] : [])];
  if (kind.json === 'boolean' || kind.json === 'integer') return kind.parse(String(value)) ?? value;
  const isFreeText = kind === TEXT || kind === FILE || kind.json === 'recipe';
  return isFreeText ? redacted(value, secrets) : value;
}
