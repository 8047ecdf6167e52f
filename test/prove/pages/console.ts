/** A command of a `console` block, and what the block shows of its output. */
export interface Step {
  readonly command: string;
  /** Lines of the terminal; one that is `...` stands for any lines. */
  readonly shown: readonly string[];
}

/** `$ command`, `> ` before its further lines, then its output. Throws for output that belongs to no command. */
export function stepsOf(text: string): readonly Step[] {
  const steps: { command: string; shown: string[] }[] = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const last = steps.at(-1);
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), shown: [] });
    else if (!last) throw new Error(`a console block begins with '$ ' and a command, not with: ${line}`);
    else if (line.startsWith('> ') && last.shown.length === 0) last.command += `\n${line.slice(2)}`;
    else last.shown.push(line);
  }
  return steps;
}

/** Ends the output of a command. */
const SEPARATOR = '\x1e';

/** A script that runs the steps one after the other, whatever their statuses. */
export function scriptOf(steps: readonly Step[]): string {
  return steps.map(({ command }) => `{ :\n${command}\n} 2>&1\nprintf '\\x1e'\n`).join('');
}

/** What each step of the script has said. */
export function saidBy(output: string): readonly string[] {
  return output.split(SEPARATOR).slice(0, -1);
}

/** Whether a command has said what the block shows. */
export function isShown(shown: readonly string[], said: string): boolean {
  const lines = shown.map((line) =>
    line === '...' ? '(?:.*\\n)*' : `${line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}\\n`,
  );
  return new RegExp(`^${lines.join('')}$`).test(said === '' || said.endsWith('\n') ? said : `${said}\n`);
}
