import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { nameFilter } from '../../src/transfer/selection/glob/name-filter.ts';
import { type InputLine, parseInputLine } from '../../src/transfer/selection/line.ts';
import { type NumberedLine, readInputLines } from '../../src/transfer/selection/lines.ts';

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
    [['*(1).htm', '+(2)', '?(3)'], [], ['a (1).htm', '+(2)', 'x(3)'], ['1.htm', '2', '3']],
    [['[!a-c]x', '[^d]y'], [], ['dx', '!x', 'ay', '/y'], ['ax', 'cx', 'x', 'dy']],
    [['[]x]', '[a-]', '[\\]z]'], [], [']', 'x', '-', 'a', 'z'], ['[', '\\]']],
    [['[!]a]'], [], ['b', '['], [']', 'a']],
    [['[[*?{]'], [], ['[', '*', '?', '{'], ['a']],
    [['{a,b{1,2,},}.htm'], [], ['a.htm', 'b1.htm', 'b2.htm', 'b.htm', '.htm'], ['c.htm', 'b12.htm']],
    [['{*.xml,R?.htm}'], [], ['a.xml', 'R1.htm'], ['R10.htm', 'a.htm']],
    [['*.{xml}'], [], ['a.xml'], ['a.xsd']],
    [['a]b}c,d'], [], ['a]b}c,d'], []],
    [['a[1].htm'], [], ['a[1].htm', 'a1.htm'], ['a2.htm']],
    [['\\*\\[\\{\\\\'], [], ['*[{\\'], ['a[{\\']],
    [['\\!a'], [], ['!a'], ['a']],
    [['?'], [], ['🙂', 'ñ', '日'], ['ab', 'n\u0303']],
    [['[😀-🙏]*'], [], ['🙂.htm'], ['a.htm']],
  ])('include %j, exclude %j', (include, exclude, chosen, left) => {
    const matches = nameFilter(include, exclude);
    expect([...chosen, ...left].filter(matches)).toEqual(chosen);
  });

  it('matches each name by its literal pattern, and only whole names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (name) => {
        const literal = name.replace(/[\\*?[{!@]/g, '\\$&');
        expect(nameFilter([literal], [])(name)).toBe(true);
        expect(nameFilter([literal], [])(`${name}x`)).toBe(false);
        expect(nameFilter(['q.htm'], [])(`${name}q.htm`)).toBe(false);
      }),
    );
  });

  it('takes or refuses any pattern, and one that is taken matches the name that it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'*?[]{},\\!^-ab./@(:'), maxLength: 12 }), (glob) => {
        try {
          expect(nameFilter([glob], [])(glob)).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'usage', hint: expect.any(String) });
        }
      }),
      { numRuns: 2000 },
    );
  });

  // Whoever goes back and tries again, or writes every choice out, does not come to an end with these.
  it.each<[glob: string, name: string, matches: boolean]>([
    [`${'*a'.repeat(400)}b`, 'a'.repeat(1000), false],
    [`${'*a'.repeat(400)}*`, 'a'.repeat(1000), true],
    ['{a,a}'.repeat(200), 'a'.repeat(200), true],
    ['{a,a}'.repeat(200), `${'a'.repeat(199)}b`, false],
    [`${'{a,b,ab}'.repeat(120)}c`, 'ab'.repeat(120), false],
    [`${'{*,**,?*}'.repeat(100)}b`, 'a'.repeat(1000), false],
    [`${'{'.repeat(499)}a${'}'.repeat(499)}`, 'a', true],
    [`${'{,'.repeat(300)}${'}'.repeat(300)}`, 'a', false],
    ['*'.repeat(1000), 'a'.repeat(1000), true],
  ])('has an end: %s', (glob, name, matches) => {
    expect(nameFilter([glob], [])(name)).toBe(matches);
  });

  it.each([
    ['', /--include '': it is empty/],
    ['x'.repeat(1001), /--include 'x+…': it is no pattern.*longer than 1000 characters/],
    ['[', /: the '\[' at character 1 is not closed/],
    ['a[]', /: the '\[' at character 2 is not closed/],
    ['a[!]', /: the '\[' at character 2 is not closed/],
    ['é[a', /: the '\[' at character 2 is not closed/],
    ['[a-', /: the '\[' at character 1 is not closed/],
    ['[\\', /: the '\\' at its end stands before nothing/],
    ['a{b', /: the '\{' at character 2 is not closed/],
    ['{a,{b}', /: the '\{' at character 1 is not closed/],
    ['[az-a]', /: the range z-a at character 3 runs backwards/],
    ['a\\', /: the '\\' at its end stands before nothing/],
    ['!*.jpg', /: a '!' at its beginning negates nothing here/],
    ['a!(b)', /: '!\(' at character 2 is an extended pattern of shells/],
    ['@(a|b)', /: '@\(' at character 1 is an extended pattern/],
    ['[[:digit:]]', /: '\[:' at character 2 is not understood/],
    ['R{1..9}.htm', /: the range \{1\.\.9\} at character 2 is not understood/],
  ])('refuses %j', (glob, message) => {
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
