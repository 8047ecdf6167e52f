// Suggests the `filings config set` command that describes a listing. A guess, so only a hint, which the program itself
// never uses: with a wrong guess, the first page of a list could pass for the whole list.
import { isJsonObject, type JsonObject } from '../json.ts';
import { orList, shellWord } from '../text.ts';

type Member = readonly [name: string, value: unknown];

/** A list whose records all have a file name at the same place. */
interface List {
  /** A JMESPath expression, such as `data.documents`, or `data[].documents[]` for lists inside of records. */
  readonly path: string;
  readonly namePath: string;
  readonly records: readonly unknown[];
  /** The members next to the list, and next to the objects around it. */
  readonly others: readonly Member[];
}

const SET = 'filings config set';
/** Shown if no command can be suggested. The user has to replace each EXPRESSION. */
const TEMPLATE = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
/** The default of `listing.name`, which also fits a list of strings. */
const DEFAULT_NAME = 'file_name';
/** A longer command would be shortened when it is printed, and would no longer work. */
const MAX_COMMAND_LENGTH = 300;
const ASK_ABOUT_PAGES =
  'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them); ';

/** @param mayBePage returns whether a list, with other members next to it, may be one page of several */
export function suggestDescription(
  json: unknown,
  mayBePage: (records: readonly unknown[], others: readonly Member[]) => boolean,
): string {
  const lists = findLists([json], '', []);
  // Strings next to records are rather tags or notes.
  const ofObjects = lists.filter(({ records }) => records.some(isJsonObject));
  const candidates = ofObjects.length > 0 ? ofObjects : lists;
  const [list] = candidates;
  if (list === undefined || candidates.length > 1) {
    const names = list ? ` (${orList(candidates.map(({ path }) => path || '@'))})` : '';
    return `${ASK_ABOUT_PAGES}if this is the whole list, describe the listing${names}: ${TEMPLATE}`;
  }
  const { path, namePath, records, others } = list;
  const asksAboutPages = path.includes('[]') || mayBePage(records, others);
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  const holdsMore = records.some((record) => isJsonObject(record) && Object.values(record).some(isObject));
  const conditions = [asksAboutPages && 'this is the whole list', holdsMore && 'the records hold no further files'];
  const condition = conditions.filter(Boolean).join(' and ');
  const command = makeCommand(path, namePath);
  return `${asksAboutPages ? ASK_ABOUT_PAGES : ''}${condition && `if ${condition}, `}describe the listing: ${command}`;
}

/** Leaves out settings whose default fits. `{}` alone says that the user has described the listing. */
function makeCommand(path: string, namePath: string): string {
  const members = [
    ...(path === '' ? [] : [`${SET} listing.files ${shellWord(path)}`]),
    ...(namePath === DEFAULT_NAME ? [] : [`${SET} listing.name ${shellWord(namePath)}`]),
  ];
  const command = members.join(' && ') || `${SET} listing '{}'`;
  return command.length > MAX_COMMAND_LENGTH ? TEMPLATE : command;
}

/** `values` are all values at `path`. The recursion ends, because `parseListing` refuses JSON nested too deeply. */
function findLists(values: readonly unknown[], path: string, others: readonly Member[]): readonly List[] {
  const records = values.filter(Array.isArray).flat();
  const namePath = records.length > 0 ? findNamePath(records) : undefined;
  const listPath = path.includes('[]') ? `${path}[]` : path;
  return [
    ...(namePath === undefined ? [] : [{ path: listPath, namePath, records, others }]),
    ...findListsInside(values.filter(isJsonObject), path, others),
    ...findListsInside(records.filter(isJsonObject), `${path}[]`, others),
  ];
}

function findListsInside(objects: readonly JsonObject[], path: string, others: readonly Member[]): readonly List[] {
  const members = objects.flatMap((object) => Object.entries(object));
  return [...new Set(members.map(([name]) => name))].flatMap((member) => {
    const values = members.filter(([name]) => name === member).map(([, value]) => value);
    return findLists(values, joinPath(path, member), [...others, ...members.filter(([name]) => name !== member)]);
  });
}

function findNamePath(records: readonly unknown[]): string | undefined {
  if (records.every((record) => typeof record === 'string')) return DEFAULT_NAME;
  const [path, ...others] = new Set(records.map(findNamePathIn));
  return others.length > 0 ? undefined : path;
}

/** Only a `file_name` may be inside a member of the record: a `name` there is that of a company, for example. */
function findNamePathIn(record: unknown): string | undefined {
  const strings = collectStrings(record, '');
  const isName = ([name, path]: Member) => path === name && /^name$/i.test(name);
  return (strings.find(([name]) => /^file[_-]?name$/i.test(name)) ?? strings.find(isName))?.[1];
}

function collectStrings(value: unknown, prefix: string): readonly (readonly [name: string, path: string])[] {
  return Object.entries(isJsonObject(value) ? value : {}).flatMap(([name, inner]) => {
    const path = joinPath(prefix, name);
    return typeof inner === 'string' && inner !== '' ? [[name, path] as const] : collectStrings(inner, path);
  });
}

function joinPath(path: string, member: string): string {
  const identifier = /^[A-Za-z_]\w*$/.test(member) ? member : JSON.stringify(member);
  return path === '' ? identifier : `${path}.${identifier}`;
}
