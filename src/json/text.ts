import { isJsonObject, JsonNumber, membersOf } from './value.ts';

/** JSON text without white space: as JSON.stringify writes it, but numbers as they stood, and members in their order. */
export function jsonText(value: unknown): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  const members = membersOf(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join(',')}}`;
}
