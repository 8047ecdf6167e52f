import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { BIN, NODE, until } from '../cli/program.ts';
import { emptyPlace } from '../program/place.ts';

type Shell = 'bash' | 'zsh' | 'fish';

const COMPLETIONS = join(import.meta.dirname, '../../completions');
/** The paths at which each shell finds the completions of a program, in a user's home. */
const INSTALLED: Readonly<Record<Shell, string>> = {
  bash: '.local/share/bash-completion/completions/filings',
  zsh: 'functions/_filings',
  fish: '.config/fish/completions/filings.fish',
};
/** bash-completion is a separate package. These lines load completions as it does. */
const START: Readonly<Record<Shell, string>> = {
  bash: `PS1='READY> '; PATH=$HOME/bin:$PATH
    _load() { source ~/${INSTALLED.bash} && return 124; }; complete -D -F _load
    bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items 0'; bind 'set page-completions off'
    bind 'set enable-bracketed-paste off'`,
  zsh: `PS1='READY> '; PATH=$HOME/bin:$PATH; fpath+=(~/functions); autoload -U compinit; compinit -u -D
    unsetopt AUTO_MENU; LISTMAX=10000; zle_bracketed_paste=(); PROMPT_SP=''`,
  fish: 'fish_add_path -g ~/bin; function fish_prompt; echo "READY> "; end; function fish_greeting; end',
};

/** Answers the completion scripts as the program does. For any other command line it prints the last argument. */
const PROGRAM = `#!/bin/sh
if [ "$1" = completion ] || [ "$1" = __complete ]; then exec '${NODE}' '${BIN}' "$@"; fi
for last; do :; done
printf 'GOT<%s>\\n' "$last"
`;

/** A home in which `filings` is on the PATH and its completions are installed as the manual says. */
export async function shellHome() {
  const place = await emptyPlace();
  await place.write('../bin/filings', PROGRAM, 0o755);
  for (const [shell, file] of Object.entries(INSTALLED)) {
    await place.write(`../${file}`, await readFile(join(COMPLETIONS, `filings.${shell}`)));
  }
  await place.write('../.bashrc', START.bash);
  await place.write('../.zshrc', START.zsh);
  await place.write('../.config/fish/config.fish', START.fish);
  return place;
}

/** An interactive shell on a terminal. */
export async function terminalOf(shell: Shell, { home, path }: { home: string; path: string }, env = {}) {
  const base = { HOME: home, ZDOTDIR: home, PATH: process.env.PATH ?? '', TERM: 'xterm', LC_ALL: 'C.UTF-8' };
  const args = shell === 'bash' ? ['--noprofile', '-i'] : ['-i'];
  const terminal = spawn(shell, args, { cwd: path, cols: 400, rows: 60, env: { ...base, ...env } });
  const ended = new Promise((resolve) => terminal.onExit(resolve));
  onTestFinished(async () => {
    terminal.kill('SIGKILL');
    await ended;
  });
  let seen = '';
  terminal.onData((data) => {
    seen += data;
  });
  await until(() => seen.includes('READY> '));
  /** Waits until the text is on the screen, after the first `from` characters. */
  const shows = (text: string, from: number) => until(() => seen.slice(from).includes(text));
  return {
    /** All output on the screen. */
    seen: () => seen,
    type: (keys: string) => terminal.write(keys),
    shows,
    /**
     * Types a line and requests completions, repeatedly if the service was too slow, until `rest` appears after the
     * line. Then runs the line, whose last argument must be `word`.
     */
    async completes(line: string, rest: string, word: string) {
      const from = seen.length;
      terminal.write(line);
      const isShown = () => plain(seen.slice(from)).split(line.trimEnd()).slice(1).join('').includes(rest);
      for (let waited = 0; !isShown(); waited += 1) {
        if (waited % 30 === 0) terminal.write('\t');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // Keys that come while a shell completes wait for it.
      terminal.write('\r');
      await shows(`GOT<${word}>`, from);
    },
  };
}

/** Removes cursor movements and colors. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are intended.
  return text.replace(/\u001b(\[[0-9;?]*[A-Za-z]|\][^\u0007]*\u0007|\(B|[=>])/g, '');
}
