import { DEEPEST, findJsonFault, type JsonFault } from '../../json.ts';
import { shortened } from '../../text.ts';

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
  const fault = findJsonFault(text);
  return fault === undefined ? { value: JSON.parse(text) } : { fault: inWords(fault, text) };
}

/** What other notations have at this place and JSON has not: its line, and its name. */
function ofOthers(text: string, at: number): string | undefined {
  if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return `line ${placeIn(text, at).line}: a comment: JSON has none`;
  const before = text.slice(0, at).trimEnd();
  const isTrailing = before.endsWith(',') && /^(?:[}\]]|$)/.test(text.slice(at, at + 1));
  return isTrailing
    ? `line ${placeIn(text, before.length - 1).line}: a comma with nothing after it: JSON has none`
    : undefined;
}

function inWords(fault: JsonFault, text: string) {
  const { line, column } = placeIn(text, fault.at);
  const where = `at line ${line}, column ${column}`;
  if (fault.kind === 'syntax') return { why: ofOthers(text, fault.at) ?? `not valid JSON ${where}` };
  if (fault.kind === 'too deep') return { why: `nested more than ${DEEPEST} levels deep ${where}` };
  return {
    at: fault.path.map((name) => shortened(name, LONGEST_NAME)).join('.'),
    why: `stands twice, the second time ${where}`,
    hint: 'take one of them out',
  };
}

/** Both from 1. */
function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
