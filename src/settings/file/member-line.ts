const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gs;

/** Where in JSON text that can be read a member stands, by the names that lead there: its line, from 1. Undefined: nowhere. */
export function lineOfMember(text: string, path: readonly string[]): number | undefined {
  const open: { name: string | undefined; readonly isObject: boolean; items: number }[] = [];
  let last: RegExpExecArray | undefined;
  for (const token of text.matchAll(TOKEN)) {
    const within = open.at(-1);
    const [word] = token;
    if (word === ':' && within && last) {
      within.name = JSON.parse(last[0]);
      const names = open.map(({ name, isObject, items }) => (isObject ? name : String(items)));
      if (names.length === path.length && names.every((name, index) => name === path[index])) {
        return text.slice(0, last.index).split('\n').length;
      }
    } else if (word === '{' || word === '[') open.push({ name: undefined, isObject: word === '{', items: 0 });
    else if (word === '}' || word === ']') open.pop();
    else if (word === ',' && within) within.items += 1;
    last = token;
  }
  return undefined;
}
