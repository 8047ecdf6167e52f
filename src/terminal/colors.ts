import { Chalk } from 'chalk';

export type ColorSetting = 'auto' | 'always' | 'never';

/** Whether a stream gets colour: `auto` is decided per stream, by whether it is a terminal that can show any. */
export function usesColor(setting: ColorSetting, stream: { readonly isTTY?: boolean }, term?: string): boolean {
  return setting === 'auto' ? stream.isTTY === true && term !== 'dumb' : setting === 'always';
}

/** The few looks this program has; with colour off, each gives its text back. */
export function colors(on: boolean) {
  const chalk = new Chalk({ level: on ? 1 : 0 });
  return { faint: chalk.dim, bad: chalk.red.bold, hint: chalk.cyan };
}
