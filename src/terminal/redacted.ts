import type { Secrets } from '../secrets.ts';

/** JSON that has been through {@link redacted}. */
export type Redacted = string | number | boolean | null | readonly Redacted[] | { readonly [name: string]: Redacted };

/** A copy of JSON data in which no string, number or member name holds a secret; what JSON can't hold becomes null. */
export function redacted(value: unknown, secrets: Secrets): Redacted {
  if (typeof value === 'string') return secrets.redact(value);
  if (typeof value === 'number') return redactedNumber(value, secrets);
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => redacted(item, secrets));
  // fromEntries makes own members: one called `__proto__` stays data.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [secrets.redact(name), redacted(member, secrets)]),
  );
}

function redactedNumber(value: number, secrets: Secrets): Redacted {
  const text = String(value);
  const clear = secrets.redact(text);
  return clear === text ? value : clear;
}
