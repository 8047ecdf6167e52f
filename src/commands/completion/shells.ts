import type { World } from '../../world.ts';
import type { Candidate } from './completions.ts';
import { type ShellLine, splitLine } from './shell-line.ts';

// Reads the line as each shell passes it to `filings __complete`, and prints the result as the script in completions/
// reads it. The lines of a result are `words` and the candidates, or `file` or `directory`, the prefix of each path,
// the path so far, and the part of the word that the shell keeps.

/** The possible completions of the current word. */
interface CompletionResult {
  readonly kind: 'words' | 'file' | 'directory';
  /** Whole words, which include the prefix. */
  readonly candidates: readonly Candidate[];
  readonly prefix: string;
}

interface Shell {
  /** Splits the arguments of `__complete`. */
  readonly read: (args: readonly string[], env: World['env']) => ShellLine;
  readonly print: (result: CompletionResult, line: ShellLine) => string;
}

/** The shells by the name that their script passes. */
export const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME, breaks: env.COMP_WORDBREAKS ?? '=:' }),
    print: (result, line) => resultLines(result, line, bashWord),
  },
  zsh: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME }),
    print: (result, line) => resultLines(result, line, zshWord),
  },
  fish: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME }),
    print: (result, line) => resultLines(result, line, ({ text, help }) => [help === '' ? text : `${text}\t${help}`]),
  },
  powershell: { read: ([line = '']) => wordsOf(line.split('\t').slice(1)), print: powershellJson },
  // Scripts of version 0.1.0 pass the words before the cursor after `--`, and use the result only for names of files.
  '--': {
    read: (args) => wordsOf([...args, '']),
    print: ({ candidates }) => candidates.map(({ text }) => `${text}\n`).join(''),
  },
};

/** Returns the line of a shell that splits words itself. */
function wordsOf(words: readonly string[]): ShellLine {
  return { words, keptPrefix: '', quote: '', isExpanded: words.slice(0, -1).some((word) => /[$`(]/.test(word)) };
}

type PrintWord = (candidate: Candidate, line: ShellLine) => readonly string[];

function resultLines({ kind, candidates, prefix }: CompletionResult, line: ShellLine, print: PrintWord): string {
  const { words, keptPrefix } = line;
  const path = [prefix, (words.at(-1) ?? '').slice(prefix.length), keptPrefix];
  const lines = kind === 'words' ? candidates.flatMap((candidate) => print(candidate, line)) : path;
  return [kind, ...lines].map((text) => `${text}\n`).join('');
}

/**
 * Returns a word that matches, quoted and without its kept part, because bash neither compares nor quotes words itself.
 */
function bashWord({ text }: Candidate, { words, keptPrefix, quote }: ShellLine): readonly string[] {
  if (!text.startsWith(words.at(-1) ?? '')) return [];
  const rest = text.slice(keptPrefix.length);
  if (quote === "'") return [rest.replaceAll("'", "'\\''")];
  // Between double quotes an interactive bash expands `!`, and a backslash before it stays.
  if (quote === '"') return rest.includes('!') ? [] : [rest.replace(/["\\$`]/g, '\\$&')];
  return [rest.replace(/[^\w./,:=@%+\-\u0080-\uffff]/g, '\\$&')];
}

/** Returns a word for `_describe`, which reads the text after a colon as the description. */
function zshWord({ text, help }: Candidate): readonly string[] {
  const word = text.replace(/[\\:]/g, '\\$&');
  return [help === '' ? word : `${word}:${help}`];
}

/**
 * Returns JSON in ASCII, because PowerShell may decode output with another encoding. Omits words with a double quote,
 * which Windows PowerShell does not pass to a program unchanged.
 */
function powershellJson({ kind, candidates }: CompletionResult, { words }: ShellLine): string {
  const begin = words.at(-1) ?? '';
  const matches = candidates
    .filter(({ text }) => text.startsWith(begin) && !text.includes('"'))
    .map(({ text, help }) => ({ word: quoteForPowershell(text), text, help: help || text }));
  const json = JSON.stringify({ kind, words: matches });
  return `${json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** Quotes a word. PowerShell also treats four other characters as a single quote. */
function quoteForPowershell(text: string): string {
  return /^[\w./=+-]+$/.test(text) ? text : `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}
