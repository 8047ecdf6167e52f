import { describe, expect, test } from 'vitest';
import { addResource, FilingsError, messageOf } from '../../src/errors.ts';
import { markForRedaction, removeMarks } from '../../src/secrets.ts';

const file = { accession: '0001234567-24-000001', fileName: 'a.htm' };
const filing = { accession: '0001234567-24-000001' };

const REDIRECTED = { proxy: 'p', host: 'h', redirectedFrom: 'g', resource: file };
const REMARKS = ['1 of 2 files failed', '1 file not started'];
test.each`
  parts                                                          | message
  ${{ reason: 'why' }}                                           | ${'why'}
  ${{ subject: { name: '--jobs' }, reason: 'why' }}              | ${'--jobs: why'}
  ${{ subject: { path: 'r', name: '--report' }, reason: 'why' }} | ${'--report r: why'}
  ${{ subject: { name: 'x', line: 3 }, reason: 'why' }}          | ${'line 3: x: why'}
  ${{ subject: { resource: filing }, reason: 'why' }}            | ${'the listing of 0001234567-24-000001: why'}
  ${{ subject: REDIRECTED, reason: 'why' }}                      | ${'a.htm of 0001234567-24-000001: g redirects to h through the proxy p: why'}
  ${{ reason: '503', quote: 'down', tries: 2 }}                  | ${'503: down; 2 tries'}
  ${{ reason: '429', serviceWaitMs: 1001 }}                      | ${'429: the service asks to wait 2 s'}
  ${{ reason: '429', quote: 'slow', serviceWaitMs: 5000 }}       | ${'429: slow: the service asks to wait 5 s'}
  ${{ reason: 'why', remarks: REMARKS, tries: 3 }}               | ${'why; 3 tries; 1 of 2 files failed; 1 file not started'}
`('messageOf makes of $parts the message `$message`', ({ parts, message }) => {
  expect(removeMarks(messageOf(parts))).toBe(message);
});

test("only the service's own words are marked for redaction in a message, whatever else it has", () => {
  const parts = { subject: { path: 'a' }, reason: '503', quote: 'down\ufdd1 b', tries: 2 };
  expect(messageOf(parts)).toBe(`a: 503: ${markForRedaction('down b')}; 2 tries`);
});

describe('FilingsError', () => {
  const cause = new Error('system');
  const error = new FilingsError('temporary', 'why', {
    subject: { host: 'h' },
    quote: 'q',
    hint: 'wait',
    problem: { status: 503 },
    retryAt: 1,
    retryable: true,
    isUnreachable: true,
    subcode: 'unproved-end',
    cause,
  });

  test('a copy has all parts that are not changed, and the cause of the first one', () => {
    const copy = error.with({ tries: 2, subject: { resource: file } });
    const subject = { host: 'h', resource: file };
    expect({ ...copy, cause: copy.cause }).toEqual({ ...error, cause, tries: 2, subject });
    expect(copy.message).toBe('a.htm of 0001234567-24-000001: h: why: q; 2 tries');
    expect(error.message).toBe('h: why: q');
  });

  test('a copy may have another code, and no hint', () => {
    const copy = error.with({ code: 'integrity', hint: undefined });
    expect([copy.code, copy.hint, copy.exitStatus]).toEqual(['integrity', undefined, 9]);
  });

  test('an error of the network gets the resource of the request in addition to its other subjects', () => {
    const named = addResource(file, error) as FilingsError;
    expect(named.message).toBe('a.htm of 0001234567-24-000001: h: why: q');
    expect(addResource(filing, named)).toBe(named);
    expect(named.with({ subject: { resource: undefined } }).message).toBe('h: why: q');
  });

  test('an error that is not about the network or a response gets no resource', () => {
    for (const code of ['local_io', 'usage', 'auth', 'internal'] as const) {
      const other = new FilingsError(code, 'why');
      expect(addResource(file, other)).toBe(other);
    }
  });
});
