/** The shells whose completions are made here. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

const PARTS = /\$'|'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|$)|\\(.|$)|./gs;
/** What the shell puts something else for, in double quotes and outside of all: a variable, what a command prints. */
const EXPANDED = /`|\$[\w{(!@#?*$-]/;
/** Only outside of quotes: another user's home, a file that a command makes. */
const EXPANDED_BARE = /^~[^/]|[<>]\(/;

/**
 * What a word of a command line means, written as for bash or zsh; an open quote may be open still. fish tells its words
 * without quotes. Undefined where only the shell could say: nothing is ever run for a word.
 */
export function meaningOf(word: string, shell: Shell, home: string | undefined): string | undefined {
  const plain = shell === 'fish' ? word : unquoted(word);
  if (plain === undefined || !/^~(\/|$)/.test(word)) return plain;
  return home && `${home}${plain.slice(1)}`;
}

function unquoted(word: string): string | undefined {
  let meant = '';
  // What is quoted, blanked out.
  let bare = '';
  for (const [whole, single, double, escaped] of word.matchAll(PARTS)) {
    if (whole === "$'" || (double !== undefined && EXPANDED.test(double.replace(/\\./gs, ' ')))) return undefined;
    const quoted = single ?? double?.replace(/\\([$`"\\\n!])/g, '$1') ?? escaped;
    bare += quoted === undefined ? whole : ' ';
    meant += quoted ?? whole;
  }
  return EXPANDED.test(bare) || EXPANDED_BARE.test(bare) ? undefined : meant;
}
