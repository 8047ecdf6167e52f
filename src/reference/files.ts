import type { CommandSpec } from '../spec/command.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { completionModel } from './completion-model.ts';
import { zshCompletion } from './completion-zsh.ts';
import { configJsonSchema } from './json-schema.ts';
import { manPages } from './man/pages.ts';
import type { Release } from './man/roff.ts';

/** The generated files by their paths in the project. */
export function generatedFiles(commands: readonly CommandSpec[], release: Release): Readonly<Record<string, string>> {
  const model = completionModel(commands);
  return {
    'completions/filings.bash': bashCompletion(model),
    'completions/filings.zsh': zshCompletion(model),
    'completions/filings.fish': fishCompletion(model),
    ...manPages(commands, release),
    'schema/config.schema.json': configJsonSchema(),
  };
}
