// Prints one of the scripts in completions/, which call `filings __complete` (cli/complete.ts) at each TAB.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, type Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'];

export const COMPLETION = defineCommand({
  name: 'completion',
  summary: 'print a completion script for a shell',
  description: [
    'Save the script as the examples show. For zsh, its directory must be in fpath before compinit runs.',
    "At each TAB, the script runs filings. After 'download ACCESSION', filings sends one request for the file names, and gives up after 2 s. It never runs apiKeyCommand and never asks for a key.",
  ],
  arguments: [{ name: 'SHELL', required: true, choices: SHELLS, help: 'your shell' }],
  examples: [
    ['filings completion bash > ~/.local/share/bash-completion/completions/filings', 'for bash with bash-completion'],
    ['filings completion zsh > ~/.zfunc/_filings', 'for zsh, with fpath+=(~/.zfunc) in ~/.zshrc'],
    ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
    [
      'filings completion powershell > ~/.config/powershell/filings.ps1',
      'for PowerShell, with . ~/.config/powershell/filings.ps1 in $PROFILE',
    ],
  ],
  load: async () => ({ run }),
});

async function run({ args: [shell = ''] }: Invocation, { root, stdout }: World): Promise<number> {
  const script = `filings.${shell === 'powershell' ? 'ps1' : shell}`;
  await write(stdout, readFileSync(join(root, 'completions', script)));
  return 0;
}
