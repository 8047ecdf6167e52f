import { named } from '../spec/option.ts';
import { paragraph, section } from './columns.ts';
import { HELP_OPTION, type Placed, PURPOSE, sentence, VERSION_OPTION } from './describe.ts';
import { argumentsSection, commandsSection, examplesSection, joined, optionRow, usage } from './sections.ts';

/** How many examples short help has room for. */
const EXAMPLES = 3;

/** What `-h` prints: one screen, 40 lines at most on 80 columns. */
export function briefHelp(command: Placed, columns: number): string {
  const { path, spec } = command;
  const isProgram = path.length === 0;
  const options = isProgram ? [HELP_OPTION, VERSION_OPTION] : named(spec.options).filter(({ rare }) => !rare);
  return joined([
    usage(command, columns),
    paragraph(isProgram ? PURPOSE : sentence(spec.summary), columns),
    commandsSection(spec, columns),
    argumentsSection(spec, columns),
    section('Options', options.map(optionRow), columns),
    examplesSection(spec, columns, EXAMPLES),
    paragraph(isProgram ? whereTheProgramIsTold() : whereMoreIsTold(command), columns),
  ]);
}

function whereTheProgramIsTold(): string {
  return [
    "'filings COMMAND -h' tells about a command, 'filings help options' about what all commands take, such as --profile and --quiet.",
    "More: 'filings help exit-codes', 'filings help environment', 'filings help config'; all at once: 'filings --help'.",
  ].join('\n');
}

function whereMoreIsTold({ path, spec }: Placed): string {
  const rare = named(spec.options).flatMap(({ rare: isRare, flag }) => (isRare ? [`--${flag}`] : []));
  const command = ['filings', ...path].join(' ');
  const more = `'${command} --help' tells more${rare.length > 0 ? `, also about ${rare.join(', ')}` : ''}.`;
  return `${more}\n${SHARED_ELSEWHERE}`;
}

/** In each command's help, short and long. */
export const SHARED_ELSEWHERE = "'filings help options' has what all commands take, such as --profile.";
