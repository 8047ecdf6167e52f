import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXIT_CODE_ROWS } from '../../../src/errors.ts';
import { pageText } from '../pages/blocks.ts';
import { ACCESSION, workplace } from '../program.ts';
import { recipe } from './recipes.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

const { groups } = parse(recipe('alerts.yaml'), { strict: true }) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Of node_exporter itself. */
const COLLECTORS = ['node_textfile_mtime_seconds'];

test('each rule has what Prometheus wants of one', () => {
  for (const rule of rules) {
    expect(Object.keys(rule)).toEqual(['alert', 'expr', 'labels', 'annotations']);
    expect(rule.alert).toMatch(/^Filings[A-Z][A-Za-z]+$/);
    expect(rule.labels).toEqual({ severity: expect.stringMatching(/^(?:critical|warning)$/) });
    expect(rule.annotations.summary).toBeTruthy();
  }
});

test('rules ask for what --metrics writes', async () => {
  const place = await workplace();
  const args = ['--sandbox', 'download', ACCESSION, 'primary.htm', 'R1.htm', '--metrics', 'filings.prom'];
  expect((await place.filings(args)).exitCode).toBe(0);
  const metrics = (await place.read('filings.prom')).toString();
  const asked = rules.flatMap(({ expr }) => expr.match(/\b(?:filings|node)_\w+(?:\{[^}]*\})?/g) ?? []);
  expect(new Set(asked.map((one) => one.replace(/\{.*/, '')))).toEqual(
    new Set(['filings_exit_code', 'filings_files', 'filings_last_success_timestamp_seconds', ...COLLECTORS]),
  );
  for (const one of asked.filter((each) => each.startsWith('filings_'))) {
    expect(metrics).toMatch(new RegExp(`^${one.replace(/[{}]/g, '\\$&')} `, 'm'));
  }
});

test('the page names each of the rules, and no other', () => {
  const named = [...pageText('docs/cron.md').matchAll(/^\| `(Filings\w+)` \|/gm)].map(([, name]) => name);
  expect(named).toEqual(rules.map(({ alert }) => alert));
});

test('the page says what to do about each exit status of the program, and of no other', () => {
  const table = pageText('docs/cron.md').split('## At three in the morning\n')[1] ?? '';
  const rows = [...table.matchAll(/^\| (\d\S*) \| (.+) \| (.+) \|$/gm)].map(([, status]) => status);
  expect(rows).toEqual(EXIT_CODE_ROWS.map(([status]) => status));
});
