import { type CommandSpec, command } from '../../spec/command.ts';
import { SHELLS } from './shell-word.ts';

/** `commands` gives all of them, this one too, once they are known. */
export function completionSpec(commands: () => readonly CommandSpec[]): CommandSpec {
  return command({
    name: 'completion',
    summary: "print a shell's completions",
    description: [
      'Install what it prints as a file, as in the examples: the shell reads it when it is needed. source <(filings completion bash) in ~/.bashrc works too, but costs each shell a start of the program. For zsh the directory has to be in fpath before compinit runs.',
      "The file names behind download ACCESSION are asked for from the service, with this line's own settings and those of environment and config file: one request, of 2 s at most, that says nothing when it fails, never runs apiKeyCommand and asks nobody for a key. The answer is kept for 5 minutes, in filings/names in the cache directory, readable by you alone. FILINGS_COMPLETE_NAMES=0 or filings config set completeNames false turns it off.",
    ],
    arguments: [{ name: 'SHELL', required: true, choices: SHELLS, help: 'bash, zsh or fish' }],
    examples: [
      [
        'filings completion bash > ~/.local/share/bash-completion/completions/filings',
        'for bash with its bash-completion',
      ],
      ['filings completion zsh > ~/.zfunc/_filings', 'for zsh, with fpath+=(~/.zfunc) in ~/.zshrc'],
      ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
    ],
    asked: {
      '--names': async () => (await import('./names.ts')).names(commands()),
      '--profiles': async () => (await import('./profiles.ts')).profiles(commands()),
    },
    load: () => import('./run.ts'),
  });
}
