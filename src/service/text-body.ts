import { shortened } from '../text.ts';

/** So much of a text is read; it bounds the work. */
export const LOOKED_AT = 16_384;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The line that tells most of an error body that is no JSON object: HTML, XML or plain text. */
export function sayingOf(text: string): string | undefined {
  const start = shortened(text.trimStart(), LOOKED_AT).trim();
  if (start === '') return undefined;
  if (!start.startsWith('<')) return start.split(/[\r\n]/, 1)[0];
  const xml = [element(start, 'Code'), element(start, 'Message')].filter((part) => part !== undefined);
  if (xml.length > 0) return xml.join(': ');
  return element(start, 'title') ?? element(start, 'h1') ?? withoutTags(start);
}

/** The text of the first such element, in any case of its name, up to whatever it holds; undefined when it is absent or empty. */
function element(markup: string, name: string): string | undefined {
  const match = new RegExp(`<${name}(?:\\s[^<>]*)?>([^<]*)(</)?`, 'i').exec(markup);
  const [, text = '', end] = match ?? [];
  return meaningful(text && end === undefined ? `${text.trimEnd()}…` : text);
}

function withoutTags(markup: string): string | undefined {
  const bare = markup.replace(/<(script|style)\b[\s\S]*?(<\/\1>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
  return meaningful(bare);
}

function meaningful(text: string): string | undefined {
  const clear = text
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) =>
      name === undefined ? character(decimal === undefined ? parseInt(hex, 16) : Number(decimal)) : named(name, whole),
    )
    .replace(/\s+/g, ' ')
    .trim();
  return clear === '' ? undefined : clear;
}

function character(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
}

function named(name: string, whole: string): string {
  return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
}
