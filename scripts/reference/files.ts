import type { CommandSpec } from '../../src/spec/command.ts';
import { commandPage } from './command-page.ts';
import { configPage } from './config-page.ts';
import { configJsonSchema } from './json-schema.ts';
import { programPage } from './program-page.ts';
import type { Release } from './roff.ts';

/** The generated files by their paths in the repository. */
export function generatedFiles(commands: readonly CommandSpec[], release: Release): Readonly<Record<string, string>> {
  return {
    ...manPages(commands, release),
    'schema/config.schema.json': configJsonSchema(),
  };
}

/** The manual pages by their paths in the repository. */
export function manPages(commands: readonly CommandSpec[], release: Release): Readonly<Record<string, string>> {
  const ofCommands = commands.map((spec) => [
    `man/filings-${spec.name}.1`,
    commandPage({ path: [spec.name], spec }, release),
  ]);
  return {
    'man/filings.1': programPage(commands, release),
    ...Object.fromEntries(ofCommands),
    'man/filings-config.5': configPage(release),
  };
}
