import { shortened } from '../../text.ts';
import { sayingOf } from '../text-body.ts';

/** Its ellipsis tells `redact` where half a secret may stand. */
const LONGEST = 120;
const MOST_MEMBERS = 8;

/** What an answer that is no listing looks like, as a noun phrase; `json` is undefined when it is not JSON. */
export function describeAnswer(text: string, json: unknown, isError: boolean): string {
  if (text.trim() === '') return 'an empty answer';
  if (json === undefined) return describeText(text);
  if (Array.isArray(json)) {
    const kinds = [...new Set(json.slice(0, 100).map(kindOf))].join(' and ');
    return `an array of ${json.length}, of ${kinds}, without file names`;
  }
  if (typeof json === 'object' && json !== null) {
    const what = isError ? 'which reports an error' : 'without file names';
    return `an object ${membersOf(json)}, ${what}${saidBy(json)}`;
  }
  return `${kindOf(json)}, not a list: ${shortened(String(json), LONGEST)}`;
}

/** What an object says that is an error under a success's status; nothing where it says nothing. */
function saidBy(object: object): string {
  const { error, message, detail, title } = object as Record<string, unknown>;
  const said = [detail, message, error, title].find((each) => typeof each === 'string' && each.trim() !== '');
  const saying = sayingOf(typeof said === 'string' ? said : '');
  return saying === undefined ? '' : `: ${shortened(saying, LONGEST)}`;
}

function describeText(text: string): string {
  const saying = shortened(sayingOf(text) ?? '', LONGEST);
  if (/^\s*<(!doctype html|html|head|body)/i.test(text.slice(0, 1000))) return `an HTML page: ${saying}`;
  if (text.trimStart().startsWith('<')) return `XML: ${saying}`;
  if (/^\s*[[{]/.test(text.slice(0, 1000))) return `broken JSON: ${saying}`;
  return `not JSON: ${saying}`;
}

function membersOf(object: object): string {
  const names = Object.keys(object);
  if (names.length === 0) return 'without members';
  const more = names.length > MOST_MEMBERS ? ', …' : '';
  return `with the members ${shortened(names.slice(0, MOST_MEMBERS).join(', '), LONGEST)}${more}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
