import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
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
  const { home, path } = await emptyPlace();
  await mkdir(join(home, 'bin'));
  const program = join(home, 'bin/filings');
  await writeFile(program, PROGRAM);
  await chmod(program, 0o755);
  for (const [shell, file] of Object.entries(INSTALLED)) {
    await mkdir(join(home, file, '..'), { recursive: true });
    await copyFile(join(COMPLETIONS, `filings.${shell}`), join(home, file));
  }
  await writeFile(join(home, '.bashrc'), START.bash);
  await writeFile(join(home, '.zshrc'), START.zsh);
  await writeFile(join(home, '.config/fish/config.fish'), START.fish);
  return { home, path };
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
  return {
    /** All output on the screen. */
    seen: () => seen,
    type: (keys: string) => terminal.write(keys),
    /** Waits until the text is on the screen, after the first `from` characters. */
    async shows(text: string, from = 0) {
      await until(() => seen.slice(from).includes(text));
    },
    /**
     * Types a line and requests completions, repeatedly if the service was too slow, until `text` appears after the
     * line.
     */
    async completes(line: string, text: string) {
      const from = seen.length;
      terminal.write(line);
      const isShown = () => plain(seen.slice(from)).split(line.trimEnd()).slice(1).join('').includes(text);
      for (let waited = 0; !isShown(); waited += 1) {
        if (waited % 30 === 0) terminal.write('\t');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  };
}

/** Removes cursor movements and colors. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are intended.
  return text.replace(/\u001b(\[[0-9;?]*[A-Za-z]|\][^\u0007]*\u0007|\(B|[=>])/g, '');
}
