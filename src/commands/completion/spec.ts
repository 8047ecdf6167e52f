import { type CommandSpec, command } from '../../spec/command.ts';

/** `commands` gives all of them, this one too, once they are known. */
export function completionSpec(commands: () => readonly CommandSpec[]): CommandSpec {
  return command({
    name: 'completion',
    summary: "print a shell's completions",
    arguments: [{ name: 'SHELL', required: true, choices: ['bash', 'zsh', 'fish'], help: 'bash, zsh or fish' }],
    description: ['Put it where the shell looks for completions: printing them anew costs each shell that starts.'],
    examples: [
      ['filings completion bash > ~/.local/share/bash-completion/completions/filings', 'for bash'],
      ['filings completion zsh > ~/.zfunc/_filings', 'for zsh, where ~/.zfunc is in fpath'],
      ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
    ],
    load: async () => (await import('./run.ts')).completion(commands()),
  });
}
