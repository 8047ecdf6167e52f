import type { CommandSpec } from '../../spec/command.ts';
import { commandPage } from './command-page.ts';
import { configPage } from './config-page.ts';
import { programPage } from './program-page.ts';
import type { Release } from './roff.ts';

/** The manual's pages by their paths in the project. */
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
