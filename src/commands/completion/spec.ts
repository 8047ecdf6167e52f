import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandSpec, command, type Invocation, type ParseLine } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';

export const COMPLETION = command({
  name: 'completion',
  summary: "print a shell's completion script",
  description: [
    'Save the script as in the examples. For zsh the directory must be in fpath before compinit runs.',
    'After download ACCESSION, file names come from the service: one request of at most 2 s. It never runs apiKeyCommand and never asks for a key.',
  ],
  arguments: [{ name: 'SHELL', required: true, choices: ['bash', 'zsh', 'fish'], help: 'your shell' }],
  examples: [
    ['filings completion bash > ~/.local/share/bash-completion/completions/filings', 'for bash with bash-completion'],
    ['filings completion zsh > ~/.zfunc/_filings', 'for zsh, with fpath+=(~/.zfunc) in ~/.zshrc'],
    ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
  ],
  load: async () => ({ run }),
});

/** Prints the script that was generated from the specs. */
async function run({ args }: Invocation, { root, stdout }: World): Promise<number> {
  await write(stdout, readFileSync(join(root, `completions/filings.${args[0]}`)));
  return 0;
}

/** The completion scripts run it at TAB, with the words of the line behind `--`. */
export function completeSpec(parse: ParseLine): CommandSpec {
  return command({
    name: '__complete',
    summary: 'print the file names that may follow',
    arguments: [{ name: 'WORD', variadic: true, help: 'the words before the cursor' }],
    load: async () => (await import('./file-names.ts')).fileNames(parse),
  });
}
