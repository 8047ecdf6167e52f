// Suggests the command that describes a listing that could not be read. It is only a hint: nothing that is found here is
// ever downloaded, because a description that is a guess could make the first page of a list pass for the whole list.
import { isJsonObject } from '../json.ts';
import { shellWord } from '../text.ts';

/** A value below objects only, the name of its member, and the expression of its place. */
type Leaf = readonly [member: string, value: unknown, place: string];

const SET = 'filings config set';
const UNKNOWN = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
/** A longer command would be cut where it is printed. */
const MAX_COMMAND = 300;
const PAGES =
  'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them); ';

/**
 * Returns the hint for a response that may be a listing.
 * @param mayBePage returns whether a list of records, with other members next to it, may be one page of several
 */
export function suggestDescription(
  json: unknown,
  mayBePage: (records: readonly unknown[], others: readonly Leaf[]) => boolean,
): string {
  const leaves = leavesOf(json);
  const lists = leaves.filter(([, value]) => Array.isArray(value) && value.length > 0);
  const named = lists.filter(([, records]) => namePlace(records as unknown[]) !== undefined);
  const strings = lists.filter(([, records]) => (records as unknown[]).every((record) => typeof record === 'string'));
  const [list, ...more] = named.length > 0 ? named : strings;
  if (list === undefined || more.length > 0) return hintFor(true, false, UNKNOWN);
  const records = list[1] as (object | string)[];
  const others = leaves.filter((leaf) => leaf !== list);
  const isNested = records.some((record) => Object.values(record).some((value) => typeof value === 'object' && value));
  return hintFor(mayBePage(records, others), isNested, commandFor(list[2], namePlace(records)));
}

function hintFor(asksAboutPages: boolean, isNested: boolean, command: string): string {
  const conditions = [
    ...(asksAboutPages ? ['this is the whole list'] : []),
    ...(isNested ? ['the records hold no further files'] : []),
  ];
  const condition = conditions.length > 0 ? `if ${conditions.join(' and ')}, ` : '';
  return `${asksAboutPages ? PAGES : ''}${condition}describe the listing: ${command}`;
}

function commandFor(place: string, name = 'file_name'): string {
  const members = [
    ...(place === '' ? [] : [`${SET} listing.files ${shellWord(place)}`]),
    ...(name === 'file_name' ? [] : [`${SET} listing.name ${shellWord(name)}`]),
  ];
  const command = members.join(' && ') || `${SET} listing '{}'`;
  return command.length > MAX_COMMAND ? UNKNOWN : command;
}

/** Returns the expression of the name if it is at the same place in all records. */
function namePlace(records: readonly unknown[]): string | undefined {
  const [place, ...others] = new Set(records.map(namePlaceIn));
  return others.length > 0 ? undefined : place;
}

/** Returns the place of a member for a file's name or, if there is none, for any name. */
function namePlaceIn(record: unknown): string | undefined {
  const texts = leavesOf(record).filter(([, value]) => typeof value === 'string' && value !== '');
  return [/^file[_-]?name$/i, /^name$/i]
    .map((wanted) => texts.find(([member]) => wanted.test(member))?.[2])
    .find((place) => place !== undefined);
}

/** Returns all values below objects. */
function leavesOf(value: unknown, member = '', place = ''): readonly Leaf[] {
  // An empty object is a member, too.
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [[member, value, place]];
  return Object.entries(value).flatMap(([name, inner]) => {
    const identifier = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return leavesOf(inner, name, place === '' ? identifier : `${place}.${identifier}`);
  });
}
