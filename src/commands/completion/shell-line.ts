// Splits a command line into words as the shells do, up to the cursor. Expands only `~/`, because the rest would need
// the shell itself.

/** The words of a line up to the cursor, without the program's name. */
export interface ShellLine {
  /** The current word is the last one; it may be empty. */
  readonly words: readonly string[];
  /** The start of the current word that the shell keeps, because it replaces only what follows. */
  readonly keptPrefix: string;
  /** The quotation mark in which the current word is open, or nothing. */
  readonly quote: string;
  /** A word before the current one has a meaning that only the shell knows, such as `$KEY`. */
  readonly isExpanded: boolean;
}

interface SplitOptions {
  readonly home: string | undefined;
  /** The characters at which the shell divides the current word (COMP_WORDBREAKS of bash). */
  readonly breaks?: string | undefined;
}

/** Returns the words of `line`, which begins with the program's name and ends at the cursor. */
export function splitLine(line: string, { home, breaks = '' }: SplitOptions): ShellLine {
  const words: string[] = [];
  let [word, quote, keptPrefix, keptBeforeQuote] = ['', '', '', ''];
  let [isStarted, hasTilde, hasDollar, isExpanded] = [false, false, false, false];
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (quote === '' && /\s/.test(char)) {
      if (isStarted) words.push(hasTilde && home ? home + word.slice(1) : word);
      isExpanded ||= hasDollar;
      [word, keptPrefix, isStarted, hasTilde, hasDollar] = ['', '', false, false, false];
      continue;
    }
    if (char === quote) {
      [quote, keptPrefix] = ['', keptBeforeQuote];
    } else if (char === '\\' && (quote === '' || (quote === '"' && /["\\$`]/.test(next)))) {
      word += next;
      at += 1;
    } else if (quote === '' && /["']/.test(char)) {
      [quote, keptBeforeQuote, keptPrefix] = [char, keptPrefix, word];
    } else {
      hasTilde ||= !isStarted && char === '~' && next === '/';
      hasDollar ||= quote !== "'" && /[$`(]/.test(char);
      word += char;
      if (quote === '' && breaks.includes(char)) keptPrefix = word;
    }
    isStarted = true;
  }
  return { words: [...words, word].slice(1), keptPrefix, quote, isExpanded };
}
