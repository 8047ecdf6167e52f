import { execFileSync } from 'node:child_process';

/** Splits a `filings` command into words with a shell. Returns them without the program's name. */
export function pasted(command: string): string[] {
  const text = execFileSync('/bin/sh', ['-c', `set -- ${command}\nprintf '%s\\0' "$@"`], { encoding: 'utf8' });
  const [program, ...words] = text.split('\0').slice(0, -1);
  if (program !== 'filings') throw new Error(`no command of this program: ${command}`);
  return words;
}
