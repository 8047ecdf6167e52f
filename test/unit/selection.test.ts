import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { type InputLine, parseInputLine } from '../../src/transfer/input-line.ts';
import { type NumberedLine, readInputLines } from '../../src/transfer/input-lines.ts';
import { nameFilter } from '../../src/transfer/selection.ts';

describe('nameFilter', () => {
  it.each<[include: string[], exclude: string[], chosen: string[], left: string[]]>([
    [[], [], ['a.htm', '.b', 'x/y.xml'], []],
    [['*.htm'], [], ['a.htm', '.htm', '.a.htm', 'x/y.htm'], ['a.html', 'a.HTM', 'a.htm2']],
    [['*.xml', '*.xsd'], [], ['a.xml', 'a.xsd'], ['a.htm']],
    [['*.{xml,xsd}'], [], ['a.xml', 'a.xsd'], ['a.htm']],
    [[], ['*_lab.xml'], ['a.xml'], ['a_lab.xml']],
    [['ex*'], ['*.jpg'], ['ex99.htm'], ['ex99.jpg', 'a.htm']],
    [['R?.htm'], [], ['R1.htm'], ['R10.htm', 'R.htm']],
    [['R[0-9].htm'], [], ['R1.htm'], ['Rx.htm']],
    [['*'], [], ['a', '.a', 'x/y', '...'], []],
    [['**'], [], ['a', '.a', 'x/y'], []],
    [['xsl*/*.xml'], [], ['xslF345X05/form4.xml'], ['form4.xml']],
    [['a(1).htm'], [], ['a(1).htm'], ['b.htm']],
    [['a.b'], [], ['a.b'], ['axb']],
    [['a+b^$.htm'], [], ['a+b^$.htm'], ['aab.htm']],
  ])('include %j, exclude %j', (include, exclude, chosen, left) => {
    const matches = nameFilter(include, exclude);
    expect([...chosen, ...left].filter(matches)).toEqual(chosen);
  });

  it('matches each name by itself, and only whole names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (name) => {
        if (!name.startsWith('!')) expect(nameFilter([name], [])(name)).toBe(true);
        expect(nameFilter(['q.htm'], [])(`${name}q.htm`)).toBe(false);
      }),
    );
  });

  it.each([
    ['', /--include '': it is empty/],
    ['x'.repeat(70_000), /--include 'x+': it is no pattern/],
  ])('refuses a pattern that is none', (glob, message) => {
    expect(() => nameFilter([glob], [])).toThrow(message);
    expect(() => nameFilter([], [glob])).toThrow(/--exclude/);
  });
});

const asked = '0001234567-24-000001';

function told(line: InputLine): unknown {
  if (line.kind === 'bad') return line.fault.message;
  return line.kind === 'entry' ? [line.accession, line.file] : line.kind;
}

describe('parseInputLine', () => {
  it.each<[line: string, file: string | undefined]>([
    [asked, undefined],
    [`${asked}\r`, undefined],
    [`  ${asked}  `, undefined],
    [`\ufeff${asked}`, undefined],
    [`${asked}\ta.htm`, 'a.htm'],
    [`${asked} \t  a b.htm`, 'a b.htm'],
    [`${asked} a.htm\r`, 'a.htm'],
    [`${asked} a.htm `, 'a.htm '],
    [`${asked} "a.htm"`, '"a.htm"'],
    [`${asked} # no comment`, '# no comment'],
    [`${asked} ../a`, '../a'],
    [JSON.stringify({ accession_no: asked, file_name: 'a\nb', size: 3 }), 'a\nb'],
    [JSON.stringify({ accession_no: asked, file_name: null }), undefined],
    [`${JSON.stringify({ accession_no: asked })}\r`, undefined],
  ])('takes %j', (line, file) => {
    expect(told(parseInputLine(line))).toEqual([asked, file]);
  });

  it.each(['', ' ', '\t', '\r', '# comment', '  # comment'])('passes over %j', (line) => {
    expect(parseInputLine(line)).toEqual({ kind: 'blank' });
  });

  it.each<[line: string, fault: RegExp]>([
    ['nonsense', /accession number 'nonsense': it has letters/],
    ['000123456724000001 a.htm', /18 digits without dashes/],
    [`"${asked}"`, /neither digits nor dashes/],
    ['{"accession_no":', /broken JSON/],
    ['{}', /accession_no is no string/],
    ['{"accession_no":5}', /accession_no is no string/],
    [`{"accession_no":"${asked}","file_name":5}`, /file_name is no string/],
    ['{"accession_no":"x"}', /accession number 'x'/],
    [`["${asked}"]`, /accession number '\["/],
  ])('refuses %j', (line, fault) => {
    const parsed = parseInputLine(line);
    expect(told(parsed)).toMatch(fault);
    expect(parsed.kind === 'bad' && parsed.fault.code).toBe('usage');
  });
});

describe('readInputLines', () => {
  async function read(chunks: Iterable<Uint8Array | string>): Promise<NumberedLine[]> {
    async function* stream() {
      yield* chunks;
    }
    const lines: NumberedLine[] = [];
    for await (const line of readInputLines(stream())) lines.push(line);
    return lines;
  }

  it('numbers the lines, counting blank ones, the last one with or without a line feed', async () => {
    const lines = await read([`\ufeff# head\n\n${asked}\r\n${asked} a.htm\nbad\n`, `${asked} b.htm`]);
    expect(lines.map((line) => [line.number, told(line)])).toEqual([
      [3, [asked, undefined]],
      [4, [asked, 'a.htm']],
      [5, expect.stringContaining('bad')],
      [6, [asked, 'b.htm']],
    ]);
    expect(await read([])).toEqual([]);
    expect(await read([`${asked}\n`])).toHaveLength(1);
  });

  it('reads the same however the bytes are cut', async () => {
    const bytes = Buffer.from(`${asked} ñ日本🙂.htm\n\n${asked}\n# x\n${asked} b.htm`);
    const whole = await read([bytes]);
    expect(whole).toHaveLength(3);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
        expect(await read(chunks)).toEqual(whole);
      }),
    );
  });

  it('says what is wrong with bytes and length, and goes on', async () => {
    const lines = await read([
      Buffer.from([0x30, 0xff, 0x0a]),
      `${asked} ${'x'.repeat(65_536)}`,
      'y'.repeat(200_000),
      `\n${asked}\n`,
    ]);
    expect(lines.map((line) => [line.number, told(line)])).toEqual([
      [1, 'a line of the input: not UTF-8'],
      [2, 'a line of the input: longer than 65536 bytes'],
      [3, [asked, undefined]],
    ]);
  });

  it('is local_io when the input can not be read', async () => {
    async function* broken() {
      yield `${asked}\n`;
      throw Object.assign(new Error('x'), { code: 'EIO' });
    }
    const lines = readInputLines(broken());
    expect((await lines.next()).value).toMatchObject({ number: 1 });
    await expect(lines.next()).rejects.toMatchObject({ code: 'local_io', message: expect.stringContaining('EIO') });
    async function* interrupted() {
      yield '';
      throw new FilingsError('interrupted', 'x', { signal: 2 });
    }
    await expect(readInputLines(interrupted()).next()).rejects.toMatchObject({ code: 'interrupted' });
  });
});
