import type { World } from '../../world.ts';
import type { Candidate } from './completions.ts';
import { type ShellLine, splitLine } from './shell-line.ts';

// How each shell passes a line to `filings __complete`, and how its script in completions/ reads the answer. The answer is
// lines: `words` and the candidates, or `file` or `directory`, the prefix of each path, the path so far, and what is kept.

/** Everything that may stand in place of the current word. */
export interface Offer {
  readonly kind: 'words' | 'file' | 'directory';
  /** Whole words: the prefix is part of them. */
  readonly candidates: readonly Candidate[];
  readonly prefix: string;
}

interface Shell {
  /** Splits the arguments of `__complete`. */
  readonly read: (args: readonly string[], env: World['env']) => ShellLine;
  readonly print: (answer: Offer, line: ShellLine) => string;
}

export const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME, breaks: env.COMP_WORDBREAKS ?? '=:' }),
    print: (answer, line) => answerLines(answer, line, bashWord),
  },
  zsh: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME }),
    print: (answer, line) => answerLines(answer, line, describedForZsh),
  },
  fish: {
    read: (args, env) => splitLine(args.join(' '), { home: env.HOME }),
    print: (answer, line) => answerLines(answer, line, ({ text, help }) => [help === '' ? text : `${text}\t${help}`]),
  },
  powershell: { read: ([line = '']) => wordsOf(line.split('\t').slice(1)), print: powershellAnswer },
  // Scripts of version 0.1.0 pass the words before the cursor behind `--`, and complete only names of files by them.
  '--': {
    read: (args) => wordsOf([...args, '']),
    print: ({ candidates }) => candidates.map(({ text }) => `${text}\n`).join(''),
  },
};

/** A line that its shell has split. */
function wordsOf(words: readonly string[]): ShellLine {
  return { words, kept: '', quote: '', isExpanded: words.slice(0, -1).some((word) => /[$`(]/.test(word)) };
}

type PrintWord = (candidate: Candidate, line: ShellLine) => readonly string[];

function answerLines({ kind, candidates, prefix }: Offer, line: ShellLine, print: PrintWord): string {
  const { words, kept } = line;
  const path = [prefix, (words.at(-1) ?? '').slice(prefix.length), kept];
  const lines = kind === 'words' ? candidates.flatMap((candidate) => print(candidate, line)) : path;
  return [kind, ...lines].map((text) => `${text}\n`).join('');
}

/** Quoted, and without what is kept; bash itself neither compares nor quotes words. */
function bashWord({ text }: Candidate, { words, kept, quote }: ShellLine): readonly string[] {
  if (!text.startsWith(words.at(-1) ?? '')) return [];
  const rest = text.slice(kept.length);
  if (quote === "'") return [rest.replaceAll("'", "'\\''")];
  // Between double quotes an interactive bash expands `!`, and a backslash before it stays.
  if (quote === '"') return rest.includes('!') ? [] : [rest.replace(/["\\$`]/g, '\\$&')];
  return [rest.replace(/[^\w./,:=@%+\-\u0080-\uffff]/g, '\\$&')];
}

/** For `_describe`, which takes the text after a colon for the description. */
function describedForZsh({ text, help }: Candidate): readonly string[] {
  const word = text.replace(/[\\:]/g, '\\$&');
  return [help === '' ? word : `${word}:${help}`];
}

/**
 * JSON in ASCII, because the encoding of a program's output varies there. A word with a double quote is left out:
 * Windows PowerShell does not pass it to a program as it is.
 */
function powershellAnswer({ kind, candidates }: Offer, { words }: ShellLine): string {
  const begin = words.at(-1) ?? '';
  const found = candidates
    .filter(({ text }) => text.startsWith(begin) && !text.includes('"'))
    .map(({ text, help }) => ({ word: powershellQuoted(text), text, help: help || text }));
  const json = JSON.stringify({ kind, words: found });
  return `${json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** PowerShell takes four more characters for a single quote. */
function powershellQuoted(text: string): string {
  return /^[\w./=+-]+$/.test(text) ? text : `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}
