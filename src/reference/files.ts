import type { CommandSpec } from '../spec/command.ts';
import { bashCompletion } from './completion-bash.ts';
import { fishCompletion } from './completion-fish.ts';
import { completionModel } from './completion-model.ts';
import { zshCompletion } from './completion-zsh.ts';
import { configJsonSchema } from './json-schema.ts';
import { manPage } from './man-page.ts';

/** The generated files by their paths in the project. */
export function generatedFiles(commands: readonly CommandSpec[], version: string): Readonly<Record<string, string>> {
  const model = completionModel(commands);
  return {
    'completions/filings.bash': bashCompletion(model),
    'completions/filings.zsh': zshCompletion(model),
    'completions/filings.fish': fishCompletion(model),
    'man/filings.1': manPage(commands, version),
    'schema/config.schema.json': configJsonSchema(),
  };
}
