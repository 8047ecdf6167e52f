import { printable } from '../../terminal/printable.ts';
import type { Line } from './line.ts';
import type { Question } from './question.ts';

/** Options that choose the files: names beside them are refused. */
const CHOOSING = ['all', 'include', 'exclude', 'input'];
/** More than anybody chooses from. Bytes. */
const MOST_NAMES_BYTES = 1 << 20;

/** Whether names may be shown by a shell: no control character ever gets to the terminal. */
export function isShowable(name: string): boolean {
  return name !== '' && printable(name) === name;
}

/** The filing whose files the line wants named; undefined: none. */
export function wantedFiling({ command, args, options }: Line): string | undefined {
  if (command !== 'download' || CHOOSING.some((name) => options.has(name))) return undefined;
  return args[0];
}

/** Of a filing's files those that may stand next on the line. */
export function offeredNames(names: readonly string[], { line, begin }: Question): readonly string[] {
  const { args, rest } = line;
  const there = new Set(args.slice(1));
  const fits = (name: string) => name.startsWith(begin) && !there.has(name) && (rest || !name.startsWith('-'));
  return withinBounds(names.filter((name) => isShowable(name) && fits(name)));
}

/** As many of them as fit, from the first on. */
export function withinBounds(names: readonly string[]): readonly string[] {
  let left = MOST_NAMES_BYTES;
  const beyond = names.findIndex((name) => {
    left -= Buffer.byteLength(name) + 1;
    return left < 0;
  });
  return beyond < 0 ? names : names.slice(0, beyond);
}
