import { Chalk } from 'chalk';

export type ColorSetting = 'auto' | 'always' | 'never';

type Paint = (text: string) => string;

/** The few looks this program has; with colour off, each gives its text back. */
export interface Colors {
  readonly faint: Paint;
  readonly bad: Paint;
  readonly good: Paint;
  readonly hint: Paint;
}

/** Whether a stream gets colour: `auto` is decided per stream, by whether it is a terminal that can show any. */
export function usesColor(setting: ColorSetting, stream: { readonly isTTY?: boolean }, term?: string): boolean {
  return setting === 'auto' ? stream.isTTY === true && term !== 'dumb' : setting === 'always';
}

export function colors(on: boolean): Colors {
  const chalk = new Chalk({ level: on ? 1 : 0 });
  return {
    faint: (text) => chalk.dim(text),
    bad: (text) => chalk.red.bold(text),
    good: (text) => chalk.green(text),
    hint: (text) => chalk.cyan(text),
  };
}
