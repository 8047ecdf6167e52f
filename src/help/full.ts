import { SHARED_ELSEWHERE } from './brief.ts';
import { paragraph, section } from './columns.ts';
import { type Placed, PURPOSE, sentence, VERSION_OPTION } from './describe.ts';
import { EVERY_EXIT, exitRows } from './exits.ts';
import {
  argumentsSection,
  commandsSection,
  examplesSection,
  joined,
  optionRow,
  optionsSection,
  sharedRows,
  usage,
} from './sections.ts';

/** What `--help` prints: all there is to say about a command; the program's has the options of all of them. */
export function fullHelp(command: Placed, columns: number): string {
  const { path, spec } = command;
  const isProgram = path.length === 0;
  const paragraphs = isProgram ? [PURPOSE, STREAMS] : [sentence(spec.summary), ...(spec.description ?? [])];
  return joined([
    usage(command, columns),
    ...paragraphs.map((text) => paragraph(text, columns)),
    commandsSection(spec, columns),
    argumentsSection(spec, columns),
    isProgram
      ? section('Options, before or after the command', [...sharedRows(), optionRow(VERSION_OPTION)], columns)
      : optionsSection(spec, columns),
    section('Of the options of every command', spec.settings === undefined ? [] : sharedRows(spec.settings), columns),
    section('Exit status', isProgram ? EVERY_EXIT : exitRows(spec), columns),
    section('Files', spec.files ?? [], columns),
    examplesSection(spec, columns),
    paragraph(isProgram ? TOPICS_ELSEWHERE : `${SHARED_ELSEWHERE}\n${EXITS_ELSEWHERE}`, columns),
  ]);
}

export const STREAMS = 'Data goes to stdout; everything meant for a person goes to stderr.';

const TOPICS_ELSEWHERE =
  "See 'filings help COMMAND', 'filings help exit-codes', 'filings help environment', 'filings help config'.";

const EXITS_ELSEWHERE = "'filings help exit-codes' has all exit statuses.";
