import { type JsonFault, placeIn, readJson } from '../../json/read.ts';
import type { JsonRules } from '../../json/reader.ts';
import { shortened } from '../../text.ts';

/** More than any configuration has, and no more than is checked in a moment. */
const RULES: JsonRules = { deepest: 100, most: 20_000, twice: 'refused', numbers: 'nearest' };
const LONGEST_NAME = 60;

/** What JSON of the configuration says, or what is wrong with it; the fault's words quote nothing but names. */
export type ConfigReading =
  | { readonly value: unknown; readonly fault?: undefined }
  | {
      readonly value?: undefined;
      readonly fault: { readonly at?: string; readonly why: string; readonly hint?: string };
    };

/** Reads the configuration's JSON; a member that stands twice is an error, since only one of them would count. */
export function readConfigJson(text: string): ConfigReading {
  const { value, fault } = readJson(text, RULES);
  return fault === undefined ? { value } : { fault: inWords(fault, text) };
}

/** What other notations have at this place and JSON has not: its line, and its name. */
function ofOthers(text: string, at: number): string | undefined {
  const lineOf = (place: number) => placeIn(text, { at: place }).line;
  if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return `line ${lineOf(at)}: a comment: JSON has none`;
  const before = text.slice(0, at).trimEnd();
  const isTrailing = before.endsWith(',') && /^(?:[}\]]|$)/.test(text.slice(at, at + 1));
  return isTrailing ? `line ${lineOf(before.length - 1)}: a comma with nothing after it: JSON has none` : undefined;
}

function inWords(fault: JsonFault, text: string) {
  const { line, column } = placeIn(text, fault);
  const where = `at line ${line}, column ${column}`;
  if (fault.kind === 'syntax') return { why: ofOthers(text, fault.at) ?? `not valid JSON ${where}` };
  if (fault.kind === 'too deep') return { why: `nested more than ${RULES.deepest} levels deep ${where}` };
  if (fault.kind === 'too many') return { why: `more than ${RULES.most} values` };
  return {
    at: fault.path.map((name) => shortened(name, LONGEST_NAME)).join('.'),
    why: `stands twice, the second time ${where}`,
    hint: 'take one of them out',
  };
}
