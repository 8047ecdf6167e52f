import { DEEPEST, findJsonFault } from '../../json.ts';
import { shortened } from '../../text.ts';

const LONGEST_NAME = 60;

/** What JSON of the configuration says, or what is wrong with it; the fault's words quote nothing but names. */
export type ConfigReading =
  | { readonly value: unknown; readonly fault?: undefined }
  | {
      readonly value?: undefined;
      readonly fault: { readonly at?: string; readonly why: string; readonly hint?: string };
    };

/** Reads the configuration's JSON; a duplicate member is an error, since only one of them would count. */
export function readConfigJson(text: string): ConfigReading {
  const fault = findJsonFault(text);
  if (fault === undefined) return { value: JSON.parse(text) };
  const lines = text.slice(0, fault.at).split('\n');
  const where = `at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  if (fault.kind === 'syntax') return { fault: { why: `not valid JSON ${where}` } };
  if (fault.kind === 'too deep') return { fault: { why: `nested more than ${DEEPEST} levels deep ${where}` } };
  const at = fault.path.map((name) => shortened(name, LONGEST_NAME)).join('.');
  return { fault: { at, why: `is set twice, again ${where}`, hint: 'remove one of them' } };
}
