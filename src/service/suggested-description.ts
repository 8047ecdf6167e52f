// Suggests the `filings config set` command that describes a listing. A guess, so only a hint, which the program itself
// never uses: with a wrong guess, the first page of a list could pass for the whole list.
import { isJsonObject, type JsonObject } from '../json.ts';
import { orList, shellWord } from '../text.ts';
import type { Member } from './listing.ts';

/** A place in the response. */
interface Place {
  /** A JMESPath expression, such as `data.documents`, or `data[].documents[]` for lists inside of records. */
  readonly path: string;
  readonly totalPath: string | undefined;
  /** The members next to it, and next to the objects around it. There may be a million. */
  readonly findOthers: () => readonly Member[];
}

/** An array, or all arrays at the same place inside of the records of another. */
interface List extends Place {
  readonly records: readonly unknown[];
}

interface FileList extends List {
  readonly name: string;
}

const SET = 'filings config set';
/** Shown if no command can be suggested. The user has to replace each EXPRESSION. */
const TEMPLATE = `${SET} listing.files EXPRESSION && ${SET} listing.name EXPRESSION`;
/** The default of `listing.name`, which also fits a list of strings. */
export const DEFAULT_NAME = 'file_name';
/** A longer command would be shortened when it is printed, and would no longer work. */
const MAX_COMMAND_LENGTH = 300;
const MAX_PATHS = 5;
const ASK_ABOUT_PAGES =
  'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them)';
/** Strings in other lists, and every `name`, may be those of people or columns. So they must look like file names. */
const LIST_OF_FILES = /(?:^|\.|")(?:files|file_?names|names|documents)"?(?:\[\])?$/i;
const LOOKS_LIKE_FILE =
  /\.(?:html?|xht(?:ml)?|xml|xsd|xbrl|xls[bmx]?|txt|pdf|jpe?g|gif|png|svg|tiff?|zip|gz|tgz|tar|csv|tsv|jsonl?|doc[mx]?|ppt[mx]?|rtf|md|css|js|sgml?|fil|paper)$/i;

/** @param mayBePage whether the only one of `lists` may be one page of several */
export function suggestDescription(lists: readonly FileList[], mayBePage: boolean): string {
  const [list] = lists;
  if (list === undefined)
    return `check the base URL and the API key; if this is a listing, ${ASK_ABOUT_PAGES}, then describe it: ${TEMPLATE}`;
  if (lists.length > 1) {
    const names = orList(lists.slice(0, MAX_PATHS).map(({ path }) => path || '@'));
    return `${ASK_ABOUT_PAGES}; if this is the whole list, describe the listing (${names}): ${TEMPLATE}`;
  }
  const { path, records } = list;
  const asksAboutPages = path.includes('[]') || mayBePage;
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  const holdsMore = records.some((record) => isJsonObject(record) && Object.values(record).some(isObject));
  const conditions = [asksAboutPages && 'this is the whole list', holdsMore && 'the records hold no further files'];
  const condition = conditions.filter(Boolean).join(' and ');
  const defaults = [list.path === '' && 'files', list.name === DEFAULT_NAME && 'name'];
  const command = makeCommand(list, defaults);
  return `${asksAboutPages ? `${ASK_ABOUT_PAGES}; ` : ''}${condition && `if ${condition}, `}describe the listing: ${command}`;
}

/** Changes only where the files and their names are, so that the rest of the description still applies. */
export function suggestPlace(json: unknown, hasTotal: boolean): string {
  const [list, ...rest] = findFileLists(json);
  if (list === undefined || rest.length > 0) return TEMPLATE;
  return makeCommand(list, [hasTotal && 'total']);
}

function makeCommand({ path, name, totalPath }: FileList, omitted: readonly (string | false)[]): string {
  // Without the total, the first of several pages would pass for the whole list.
  const members = Object.entries({ files: path || '@', name, ...(totalPath !== undefined && { total: totalPath }) })
    .filter(([member]) => !omitted.includes(member))
    .map(([member, expression]) => `${SET} listing.${member} ${shellWord(expression)}`);
  // `{}` alone says that the user has described the listing.
  const command = members.join(' && ') || `${SET} listing '{}'`;
  return command.length > MAX_COMMAND_LENGTH ? TEMPLATE : command;
}

export function findFileLists(json: unknown): readonly FileList[] {
  return findLists([json], { path: '', totalPath: undefined, findOthers: () => [] }).flatMap(
    (list) => asFileList(list) ?? [],
  );
}

function asFileList(list: List): FileList | undefined {
  const { path, records } = list;
  const objects = records.filter(isJsonObject);
  if (records.length === 0 || !records.every((record) => typeof record === 'string' || isJsonObject(record)))
    return undefined;
  const paths = objects.map(findNamePath).filter((found) => found !== undefined);
  const [namePath = [DEFAULT_NAME], ...different] = new Map(paths.map((each) => [toExpression(each), each])).values();
  const names = records.map((record) => (isJsonObject(record) ? getAt(record, namePath) : record));
  // An archive has documents without a name, which is null then.
  if (different.length > 0 || !names.every((name) => typeof name === 'string' || name === null)) return undefined;
  if (names.every((name) => name === null)) return undefined;
  const hasFileName = objects.length > 0 && /^file/i.test(namePath.at(-1) ?? '');
  const isForFiles = objects.length === 0 && (path === '' || LIST_OF_FILES.test(path));
  const name = toExpression(namePath);
  if (!hasFileName && !isForFiles && !names.some((each) => LOOKS_LIKE_FILE.test(String(each)))) return undefined;
  if (!names.includes('')) return { ...list, name };
  // A filter drops empty strings, which are false.
  const filter = `[?${objects.length > 0 ? name : '@'}]`;
  return { ...list, name, path: path === '' ? filter : `${path} | ${filter}` };
}

/** `values` are all values at `path`. The recursion ends, because `parseListing` refuses JSON nested too deeply. */
function findLists(values: readonly unknown[], place: Place): readonly List[] {
  const { path } = place;
  const arrays = values.filter(Array.isArray);
  const records = arrays.flat();
  return [
    ...(arrays.length === 0 ? [] : [{ ...place, path: path.includes('[]') ? `${path}[]` : path, records }]),
    ...findListsInside(values.filter(isJsonObject), place),
    // A total around the outer records does not count the inner ones.
    ...findListsInside(records.filter(isJsonObject), { ...place, path: `${path}[]`, totalPath: undefined }),
  ];
}

/** Visits each member once, because there may be a million. */
function findListsInside(objects: readonly JsonObject[], outer: Place): readonly List[] {
  const members = objects.flatMap((object) => Object.entries(object));
  const total = members.find(([name, value]) => /^total$/i.test(name) && /^\d+$/.test(String(value)))?.[0];
  const totalPath = total === undefined || outer.path.includes('[]') ? outer.totalPath : joinPath(outer.path, total);
  const valuesByName = new Map<string, unknown[]>();
  for (const [name, value] of members) {
    const values = valuesByName.get(name);
    if (values) values.push(value);
    else valuesByName.set(name, [value]);
  }
  return [...valuesByName].flatMap(([name, values]) => {
    const findOthers = () => [...outer.findOthers(), ...members.filter(([each]) => each !== name)];
    return findLists(values, { path: joinPath(outer.path, name), totalPath, findOthers });
  });
}

/** Only a `file_name` may be inside a member of the record: a `name` there is that of a company, for example. */
function findNamePath(record: JsonObject): readonly string[] | undefined {
  const paths = listStrings(record, []);
  const isName = (path: readonly string[]) => /^name$/i.test(path.join());
  return paths.find((path) => /^file[_-]?name$/i.test(path.at(-1) ?? '')) ?? paths.find(isName);
}

/** The paths of all strings that are not empty. */
function listStrings(object: JsonObject, prefix: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = [...prefix, name];
    if (isJsonObject(value)) return listStrings(value, path);
    return typeof value === 'string' && value !== '' ? [path] : [];
  });
}

function getAt(object: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), object);
}

function toExpression(path: readonly string[]): string {
  return path.reduce(joinPath, '');
}

/** A path that is too long for a command is cut, because each of 50,000 lists inside a long name would have a copy. */
function joinPath(path: string, member: string): string {
  // In ASCII, because some other characters are printed in a way that JMESPath does not read.
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const quoted = () => JSON.stringify(member).replace(/[\u007f-\uffff]/g, toEscape);
  const identifier = /^[A-Za-z_]\w*$/.test(member) ? member : quoted();
  return (path === '' ? identifier : `${path}.${identifier}`).slice(0, MAX_COMMAND_LENGTH + 1);
}
