import { CONFIG_PARAGRAPHS, configRows, EXAMPLE_CONFIG } from '../../src/help/topics.ts';
import { seeAlso } from './command-page.ts';
import { escaped, lines, page, paragraphs, type Release, tagged, verbatim } from './roff.ts';

const NAME = 'filings-config';

/** The manual page `filings-config(5)` about the config file. */
export function configPage(release: Release): string {
  return page({ name: NAME, section: 5 }, release, [
    ['NAME', [`${escaped(NAME)} \\- the config file of filings`]],
    ['SYNOPSIS', lines(PLACES.map(([path]) => escaped(path)))],
    ['DESCRIPTION', [...paragraphs(CONFIG_PARAGRAPHS), '.SS Keys', ...tagged(configRows())]],
    ['EXAMPLES', verbatim(JSON.stringify(EXAMPLE_CONFIG, undefined, 2))],
    ['ENVIRONMENT', tagged(VARIABLES)],
    ['FILES', tagged(PLACES)],
    ['SEE ALSO', [seeAlso([`${NAME}(1)`, 'filings(1)'])]],
  ]);
}

const PLACES = [
  ['$XDG_CONFIG_HOME/filings/config.json', 'where it is when XDG_CONFIG_HOME is set'],
  ['~/.config/filings/config.json', 'where it is otherwise'],
] as const;

const VARIABLES = [
  ['FILINGS_CONFIG', 'another file (--config)'],
  ['FILINGS_PROFILE', 'the profile to use (--profile)'],
  ['XDG_CONFIG_HOME', 'the folder of configuration files; ~/.config unless set'],
] as const;
