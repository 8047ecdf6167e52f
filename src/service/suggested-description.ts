// Suggests the command that describes a listing that could not be read. It is only a hint: nothing that is found here is
// ever downloaded, because a description that is a guess could make the first page of a list pass for the whole list.
import { isJsonObject } from '../json.ts';
import { shellWord } from '../text.ts';

/** Lists at one place of a response: the expressions of their records' names, and what a description would leave out. */
interface Place {
  /** Empty for lists of strings. */
  readonly names: Set<string>;
  nameless: number;
  /** A member of the records that holds more than a value. */
  nested: string | undefined;
}

const MAX_PLACES = 3;
const MAX_COMMAND = 300;
const PAGES =
  'first find out whether the service sends pages (listing.page, listing.next, listing.more and listing.total describe them); ';

/** Returns the hint for a response that may be a listing. `mayBePage`: there may be further pages, so it asks first. */
export function suggestDescription(json: unknown, mayBePage: boolean): string {
  const places = findPlaces(json);
  const found = [...places.values()];
  const nested = found.find((place) => place.nested !== undefined)?.nested;
  const conditions = [
    ...(mayBePage ? ['this is the whole list'] : []),
    ...(found.some((place) => place.nameless > 0) ? ['the records without a name are not files'] : []),
    ...(nested === undefined ? [] : [`'${nested}' holds no other files`]),
  ];
  const condition = conditions.length > 0 ? `if ${conditions.join(' and ')}, ` : '';
  return `${mayBePage ? PAGES : ''}${condition}describe the listing: ${describingCommand(places)}`;
}

function describingCommand(places: ReadonlyMap<string, Place>): string {
  const unknown = 'filings config set listing.files EXPRESSION && filings config set listing.name EXPRESSION';
  if (places.size === 0 || places.size > MAX_PLACES) return unknown;
  const [first = '@', ...more] = places.keys();
  const files = more.length === 0 ? first : `[${[first, ...more].join(', ')}][]`;
  const name = [...new Set([...places.values()].flatMap((place) => [...place.names]))].join(' || ');
  const members = [
    ...(files === '@' ? [] : [`filings config set listing.files ${shellWord(files)}`]),
    ...(name === '' || name === 'file_name' ? [] : [`filings config set listing.name ${shellWord(name)}`]),
  ];
  const command = members.join(' && ') || "filings config set listing '{}'";
  return command.length > MAX_COMMAND ? unknown : command;
}

/** Returns the places of lists whose records have names or, if there are none, of lists of strings. */
function findPlaces(json: unknown): ReadonlyMap<string, Place> {
  const named = new Map<string, Place>();
  const strings = new Map<string, Place>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) {
      // After a projection (`[]`) a list is a list of lists, which another `[]` makes one.
      const expression = path === '' ? '@' : path.includes('[]') ? `${path}[]` : path;
      const names = value.map(nameExpression);
      const hasNames = names.some((name) => name !== undefined);
      if (hasNames || value.some((item) => typeof item === 'string')) {
        const found = hasNames ? named : strings;
        const place = found.get(expression) ?? { names: new Set(), nameless: 0, nested: undefined };
        found.set(expression, place);
        for (const [index, name] of names.entries()) {
          if (name !== undefined) place.names.add(name);
          else if (typeof value[index] !== 'string') place.nameless += 1;
          place.nested ??= nestedMember(value[index], name);
        }
      }
      for (const item of value) visit(item, `${path}[]`);
    } else if (isJsonObject(value)) {
      for (const [member, inner] of Object.entries(value)) {
        visit(inner, path === '' ? identifier(member) : `${path}.${identifier(member)}`);
      }
    }
  };
  visit(json, '');
  return named.size > 0 ? named : strings;
}

/** Returns the expression of a record's name: of a member for a file's name or for any name, in the record or one below. */
function nameExpression(record: unknown): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const members = Object.entries(record).flatMap(([member, value]) => [
    { path: [member], value },
    ...(isJsonObject(value)
      ? Object.entries(value).map(([inner, each]) => ({ path: [member, inner], value: each }))
      : []),
  ]);
  const texts = members.filter(({ value }) => typeof value === 'string' && value !== '');
  const isNamed = (wanted: RegExp) => texts.find(({ path }) => wanted.test(path.at(-1) ?? ''));
  return (isNamed(/^file[_-]?name$/i) ?? isNamed(/^name$/i))?.path.map(identifier).join('.');
}

/** Returns a member of a record that holds more than a value, and is not where the name is. */
function nestedMember(record: unknown, name: string | undefined): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const isNested = (value: unknown) => typeof value === 'object' && value !== null;
  return Object.keys(record).find((key) => isNested(record[key]) && !name?.startsWith(`${identifier(key)}.`));
}

function identifier(member: string): string {
  return /^[A-Za-z_]\w*$/.test(member) ? member : JSON.stringify(member);
}
