import { expect, test } from 'vitest';
import { commandNodes } from '../../scripts/reference/command-nodes.ts';
import { manPage } from '../../scripts/reference/man-page.ts';
import { COMMANDS } from '../../src/cli/catalogue.ts';
import { EXIT_STATUSES } from '../../src/errors.ts';
import { SETTINGS, SHARED_OPTIONS } from '../../src/settings/table.ts';
import { toNamedOptions } from '../../src/spec/option.ts';

const PAGE = manPage({ version: '1.2.3', date: '2026-01-31' });
/** Escapes a text as the manual does. */
const roff = (text: string) =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('"', '\\(dq');

test('the manual has all commands with options and examples, all settings and all exit statuses', () => {
  for (const { path, spec } of commandNodes(COMMANDS)) {
    expect(PAGE).toContain(roff(`filings ${path.join(' ')}`));
    for (const { flag } of toNamedOptions(spec.options)) expect(PAGE).toContain(roff(flag));
    for (const [line] of spec.examples ?? []) expect(PAGE).toContain(roff(line));
  }
  for (const { flag } of SHARED_OPTIONS) expect(PAGE).toContain(roff(flag));
  for (const { name, env, inFile } of SETTINGS) {
    if (inFile) expect(PAGE).toContain(`\\fB${name}\\fR`);
    if (env) expect(PAGE).toContain(`\\fB${env}\\fR`);
  }
  for (const [status] of EXIT_STATUSES) expect(PAGE).toContain(`\\fB${status}\\fR`);
});
