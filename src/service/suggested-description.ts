// Suggests the command that describes a listing which listing.ts refuses. The suggestion is a guess, so it is only
// shown as a hint, and never used by the program itself: a wrong guess could take the first page of a list for the
// whole list.
import { isJsonObject } from '../json.ts';
import { shellWord } from '../text.ts';

/**
 * A member at any depth of objects that is not itself an object with members. Arrays are not searched. `place` is the
 * JMESPath expression of the member, such as `data.documents`.
 */
type Leaf = readonly [member: string, value: unknown, place: string];

const SET = 'filings config set';
const TEMPLATE = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
/** A longer command would be shortened when it is printed, and would no longer work. */
const MAX_COMMAND_LENGTH = 300;
const FIND_OUT_PAGES =
  'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them); ';

/**
 * Returns the hint for a response that may be a listing.
 * @param mayBePage returns whether a list of records, with other members next to it, may be one page of several
 */
export function suggestDescription(
  json: unknown,
  mayBePage: (records: readonly unknown[], others: readonly Leaf[]) => boolean,
): string {
  const leaves = collectLeaves(json);
  const lists = leaves.filter(([, value]) => Array.isArray(value) && value.length > 0);
  const withNames = lists.filter(([, records]) => findNamePlace(records as unknown[]) !== undefined);
  const ofStrings = lists.filter(([, records]) => (records as unknown[]).every((record) => typeof record === 'string'));
  const [list, ...furtherLists] = withNames.length > 0 ? withNames : ofStrings;
  if (list === undefined || furtherLists.length > 0) return makeHint(true, false, TEMPLATE);
  const records = list[1] as (object | string)[];
  const others = leaves.filter((leaf) => leaf !== list);
  const isNested = records.some((record) => Object.values(record).some((value) => typeof value === 'object' && value));
  return makeHint(mayBePage(records, others), isNested, makeCommand(list[2], findNamePlace(records)));
}

function makeHint(asksAboutPages: boolean, isNested: boolean, command: string): string {
  const conditions = [
    ...(asksAboutPages ? ['this is the whole list'] : []),
    ...(isNested ? ['the records hold no further files'] : []),
  ];
  const condition = conditions.length > 0 ? `if ${conditions.join(' and ')}, ` : '';
  return `${asksAboutPages ? FIND_OUT_PAGES : ''}${condition}describe the listing: ${command}`;
}

function makeCommand(place: string, name = 'file_name'): string {
  const members = [
    ...(place === '' ? [] : [`${SET} listing.files ${shellWord(place)}`]),
    ...(name === 'file_name' ? [] : [`${SET} listing.name ${shellWord(name)}`]),
  ];
  const command = members.join(' && ') || `${SET} listing '{}'`;
  return command.length > MAX_COMMAND_LENGTH ? TEMPLATE : command;
}

/** Returns the expression of the file name if it is the same in all records. */
function findNamePlace(records: readonly unknown[]): string | undefined {
  const [place, ...others] = new Set(records.map(findNamePlaceIn));
  return others.length > 0 ? undefined : place;
}

/** Returns the place of a member `file_name` or the like, or otherwise of a member `name`. */
function findNamePlaceIn(record: unknown): string | undefined {
  const strings = collectLeaves(record).filter(([, value]) => typeof value === 'string' && value !== '');
  return [/^file[_-]?name$/i, /^name$/i]
    .map((wanted) => strings.find(([member]) => wanted.test(member))?.[2])
    .find((place) => place !== undefined);
}

function collectLeaves(value: unknown, member = '', place = ''): readonly Leaf[] {
  // An empty object has no values, but it is itself a member that the hint must take into account.
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [[member, value, place]];
  return Object.entries(value).flatMap(([name, inner]) => {
    const identifier = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    return collectLeaves(inner, name, place === '' ? identifier : `${place}.${identifier}`);
  });
}
