// When listing.ts refuses a response of an unknown form, this file suggests the `filings config set` command with which
// the user can describe that form. The suggestion is a guess. So it is only shown as a hint, and the program itself
// never uses it: with a wrong guess, the first page of a list could pass for the whole list.
import { isJsonObject } from '../json.ts';
import { shellWord } from '../text.ts';

/**
 * A member of the JSON, at any depth, whose value is a scalar, an array or an empty object. Arrays are not searched.
 * `path` is the JMESPath expression of the member, such as `data.documents`. For a response that is not an object, the
 * name and the path are empty.
 */
type Leaf = readonly [name: string, value: unknown, path: string];

const SET = 'filings config set';
/** Shown if no command can be suggested. The user has to replace each EXPRESSION. */
const TEMPLATE = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
/** A longer command would be shortened when it is printed, and would no longer work. */
const MAX_COMMAND_LENGTH = 300;
const ASK_ABOUT_PAGES =
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
  // Lists of records that all have a file name in the same place, and lists of nothing but strings.
  const withNames = lists.filter(([, records]) => findNamePath(records as unknown[]) !== undefined);
  const ofStrings = lists.filter(([, records]) => (records as unknown[]).every((record) => typeof record === 'string'));
  const [list, ...furtherLists] = withNames.length > 0 ? withNames : ofStrings;
  // There is no list to suggest, or no way to tell which of several.
  if (list === undefined || furtherLists.length > 0) return makeHint(true, false, TEMPLATE);
  // Only objects have a file name, so after the filters above no record is null or a number.
  const records = list[1] as (object | string)[];
  const others = leaves.filter((leaf) => leaf !== list);
  // A string has only its characters as values, so it holds no object.
  const isNested = records.some((record) => Object.values(record).some((value) => typeof value === 'object' && value));
  return makeHint(mayBePage(records, others), isNested, makeCommand(list[2], findNamePath(records)));
}

/** Returns the hint with `command`, after the conditions under which the command is right. */
function makeHint(asksAboutPages: boolean, isNested: boolean, command: string): string {
  const conditions = [
    ...(asksAboutPages ? ['this is the whole list'] : []),
    ...(isNested ? ['the records hold no further files'] : []),
  ];
  const condition = conditions.length > 0 ? `if ${conditions.join(' and ')}, ` : '';
  return `${asksAboutPages ? ASK_ABOUT_PAGES : ''}${condition}describe the listing: ${command}`;
}

/**
 * Returns the command for a list at `path`, in whose records the file name is at `namePath`. Leaves out a setting whose
 * default fits: the response itself for `listing.files`, and `file_name` for `listing.name`. A list of strings needs no
 * `listing.name`. If nothing remains, `listing` is set to `{}`, because its presence alone says that the user has
 * described the listing.
 */
function makeCommand(path: string, namePath = 'file_name'): string {
  const members = [
    ...(path === '' ? [] : [`${SET} listing.files ${shellWord(path)}`]),
    ...(namePath === 'file_name' ? [] : [`${SET} listing.name ${shellWord(namePath)}`]),
  ];
  const command = members.join(' && ') || `${SET} listing '{}'`;
  return command.length > MAX_COMMAND_LENGTH ? TEMPLATE : command;
}

/** Returns the path of the file name if all records have one at the same path, and undefined otherwise. */
function findNamePath(records: readonly unknown[]): string | undefined {
  const [path, ...others] = new Set(records.map(findNamePathIn));
  return others.length > 0 ? undefined : path;
}

/** Returns the path of the first `file_name` or the like at any depth, or else the path of the first `name`. */
function findNamePathIn(record: unknown): string | undefined {
  const strings = collectLeaves(record).filter(([, value]) => typeof value === 'string' && value !== '');
  return [/^file[_-]?name$/i, /^name$/i]
    .map((wanted) => strings.find(([name]) => wanted.test(name))?.[2])
    .find((path) => path !== undefined);
}

/** The recursion ends, because `parseListing` refuses JSON that is nested too deeply. */
function collectLeaves(value: unknown, name = '', path = ''): readonly Leaf[] {
  // An empty object has no values, but it is itself a member next to the list.
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [[name, value, path]];
  return Object.entries(value).flatMap(([member, inner]) => {
    const identifier = /^[A-Za-z_]\w*$/.test(member) ? member : JSON.stringify(member);
    return collectLeaves(inner, member, path === '' ? identifier : `${path}.${identifier}`);
  });
}
