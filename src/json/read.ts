import { takeTurn } from '../abort.ts';
import { type JsonFault, type JsonRules, Reader } from './reader.ts';

export type { JsonFault, JsonRules } from './reader.ts';

export type Reading =
  | { readonly value: unknown; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: JsonFault };

/** So many values take some milliseconds. */
const VALUES_A_TURN = 10_000;

/** Reads JSON text (RFC 8259) at one go: for what is known to be small. */
export function readJson(text: string, rules: JsonRules): Reading {
  const reader = new Reader(text, rules);
  while (!reader.read(VALUES_A_TURN));
  return readingOf(reader);
}

/** As {@link readJson}; signals, timers and sockets have their turn meanwhile. Throws the signal's reason. */
export async function readLongJson(text: string, rules: JsonRules, signal: AbortSignal): Promise<Reading> {
  const reader = new Reader(text, rules);
  while (!reader.read(VALUES_A_TURN)) await takeTurn(signal);
  return readingOf(reader);
}

function readingOf({ value, fault }: Reader): Reading {
  return fault === undefined ? { value } : { fault };
}

/** Where a fault is, for people: both from 1. */
export function placeIn(
  text: string,
  { at }: Pick<JsonFault, 'at'>,
): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
