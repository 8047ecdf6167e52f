/** Columns between the two of a table, and before the first. */
const GAP = 2;
/** Past this many columns, or this part of all, the first one of a table stands on a line of its own. */
const WIDEST_TERM = 26;
const WIDEST_PART = 0.4;

export type Row = readonly [term: string, text: string];

/** Text broken into lines of at most so many columns, and where it has line breaks; words and 'filings ...' stay whole. */
export function wrapped(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((line) => filled(line.match(/'filings [^']*'\S*|\S+/g) ?? [], columns));
}

/** Words in lines of at most so many columns; longer words stay whole. */
export function filled(words: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A paragraph, with its line break. */
export function paragraph(text: string, columns: number): string {
  return `${wrapped(text, columns).join('\n')}\n`;
}

/** A heading with a table of two columns below it; nothing where there are no rows. */
export function section(heading: string, rows: readonly Row[], columns: number): string {
  if (rows.length === 0) return '';
  return `${heading}:\n${table(rows, columns)}`;
}

/** Two columns, the second wrapped. */
export function table(rows: readonly Row[], columns: number): string {
  const most = Math.min(WIDEST_TERM, Math.floor(columns * WIDEST_PART));
  const widest = Math.max(...rows.map(([term]) => Math.min(term.length, most)));
  const indent = GAP + widest + GAP;
  return rows.map((row) => rowLines(row, widest, columns - indent).join('')).join('');
}

function rowLines([term, text]: Row, widest: number, columns: number): readonly string[] {
  const lines = wrapped(text, columns).map((line) => `${' '.repeat(GAP + widest + GAP)}${line}`.trimEnd());
  const head = `${' '.repeat(GAP)}${term.padEnd(widest)}`;
  if (term.length > widest) return [`${head}\n`, ...lines.map((line) => `${line}\n`)];
  const [first = '', ...rest] = lines;
  return [`${head}${first.slice(head.length)}`.trimEnd(), '\n', ...rest.map((line) => `${line}\n`)];
}
