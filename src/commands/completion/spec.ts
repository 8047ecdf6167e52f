import { type CommandSpec, command } from '../../spec/command.ts';

/** `commands` gives all of them, this one too, once they are known. */
export function completionSpec(commands: () => readonly CommandSpec[]): CommandSpec {
  return command({
    name: 'completion',
    summary: "print a shell's completions",
    arguments: [{ name: 'SHELL', required: true, choices: ['bash', 'zsh', 'fish'], help: 'bash, zsh or fish' }],
    examples: [
      ['source <(filings completion bash)', 'for this shell; put it into ~/.bashrc for all'],
      ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
    ],
    load: async () => (await import('./run.ts')).completion(commands()),
  });
}
