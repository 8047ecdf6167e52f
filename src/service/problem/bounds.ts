import type { Secrets } from '../../secrets.ts';
import { shortened } from '../../text.ts';

/** What is kept of an error body: enough to tell what happened, too little to flood a log or a report. */
const CHARACTERS = 32_768;
const LONGEST_STRING = 4096;
const LONGEST_NAME = 200;
/** So much of one text is read; it bounds the work. */
export const LOOKED_AT = 16_384;
const MOST_MEMBERS = 100;
const DEEPEST = 6;

type JsonObject = Readonly<Record<string, unknown>>;

/** A copy of a JSON object without secrets, cut to bounds: long strings end in an ellipsis, what goes beyond is left out. */
export function bounded(object: JsonObject, secrets: Secrets): JsonObject {
  return copyObject(object, { left: CHARACTERS, secrets }, 0);
}

/**
 * Text from outside as it may be said, `length` UTF-16 units at most. First it is clear of secrets, then it is cut:
 * half a secret is one too. Where more came than is read, the ellipsis tells {@link Secrets.redact}.
 */
export function brief(text: string, length: number, secrets: Secrets): string {
  return shortened(secrets.redact(shortened(text, LOOKED_AT)), length);
}

interface Room {
  left: number;
  readonly secrets: Secrets;
}

function copy(value: unknown, room: Room, depth: number): unknown {
  if (typeof value === 'string') {
    const text = brief(value, Math.max(1, Math.min(LONGEST_STRING, room.left)), room.secrets);
    room.left -= text.length;
    return text;
  }
  room.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '…';
  if (!Array.isArray(value)) return copyObject(value as JsonObject, room, depth);
  const items: unknown[] = [];
  for (const item of value.slice(0, MOST_MEMBERS)) {
    if (room.left <= 0) break;
    items.push(copy(item, room, depth + 1));
  }
  return items;
}

function copyObject(object: JsonObject, room: Room, depth: number): JsonObject {
  const members: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object).slice(0, MOST_MEMBERS)) {
    if (room.left <= 0) break;
    if (value === null) continue;
    const kept = brief(name, LONGEST_NAME, room.secrets);
    room.left -= kept.length;
    members.push([kept, copy(value, room, depth + 1)]);
  }
  // fromEntries makes own members: one called `__proto__` stays data.
  return Object.fromEntries(members);
}
