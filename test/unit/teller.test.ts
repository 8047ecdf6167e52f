import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';
import { createTeller, type TellerOptions } from '../../src/terminal/teller.ts';

const SECRET = 'canary-key-12345';

function said(kind: 'note' | 'warning' | 'trace' | 'log', more: Partial<TellerOptions>): string {
  const secrets = new Secrets();
  secrets.add(SECRET);
  let said = '';
  createTeller({ errorFormat: 'text', quiet: false, secrets, ...more }, (line) => {
    said += line;
  })(kind, `a ${SECRET}\x1b`);
  return said;
}

describe('a line besides the errors', () => {
  test.each([
    ['note', 'a [redacted]\\x1b\n', { note: 'a [redacted]\x1b' }],
    ['warning', 'filings: warning: a [redacted]\\x1b\n', { note: 'warning: a [redacted]\x1b' }],
    ['trace', 'a [redacted]\\x1b\n', { trace: 'a [redacted]\x1b' }],
    ['log', 'a [redacted]\\x1b\n', { log: 'a [redacted]\x1b' }],
  ] as const)('of kind %s', (kind, text, json) => {
    expect(said(kind, {})).toBe(text);
    expect(JSON.parse(said(kind, { errorFormat: 'json' }))).toEqual(json);
    expect(said(kind, { quiet: true })).toBe('');
  });
});
