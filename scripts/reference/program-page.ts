import type { Row } from '../../src/help/layout.ts';
import { PURPOSE, programSpec } from '../../src/help/program.ts';
import { EVERY_EXIT, optionTerm, optionText, sharedRows, VERSION_OPTION } from '../../src/help/rows.ts';
import { AFTER_EXITS, BEFORE_VARIABLES, COMMON_VARIABLES, environmentRows } from '../../src/help/topics.ts';
import type { CommandSpec } from '../../src/spec/command.ts';
import { CONFIG_FILE, seeAlso } from './command-page.ts';
import { bold, escaped, examples, page, paragraphs, type Release, tagged } from './roff.ts';

/** The manual page `filings(1)` about the program and everything that its commands share. */
export function programPage(commands: readonly CommandSpec[], release: Release): string {
  const spec = programSpec(commands);
  const pages = commands.map(({ name }) => `filings-${name}(1)`);
  return page({ name: spec.name, section: 1 }, release, [
    ['NAME', [`filings \\- ${escaped(spec.summary)}`]],
    ['SYNOPSIS', [`${bold('filings')} ${escaped('[OPTION...] COMMAND ...')}`]],
    ['DESCRIPTION', paragraphs([PURPOSE, ...(spec.description ?? [])])],
    ['COMMANDS', tagged(commands.map(({ name, summary }): Row => [`filings-${name}(1)`, summary]))],
    [
      'OPTIONS',
      [
        ...paragraphs(['These may stand before or after the command.']),
        ...tagged([...sharedRows(), [optionTerm(VERSION_OPTION), optionText(VERSION_OPTION)]]),
      ],
    ],
    ['EXAMPLES', examples(spec.examples ?? [])],
    [
      'EXIT STATUS',
      [
        ...tagged(EVERY_EXIT.map(([term, text]): Row => [term.replace(/ +(.+)/, ' ($1)'), text])),
        ...paragraphs([AFTER_EXITS]),
      ],
    ],
    ['ENVIRONMENT', [...paragraphs([BEFORE_VARIABLES]), ...tagged([...environmentRows(), ...COMMON_VARIABLES])]],
    ['FILES', tagged([CONFIG_FILE])],
    ['SEE ALSO', [seeAlso([...pages, 'filings-config(5)'])]],
  ]);
}
