import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InputLine, type NumberedLine, parseInputLine, readBatches } from '../../src/batch/input-lines.ts';
import { FilingsError } from '../../src/errors.ts';

const asked = '0001234567-24-000001';

function told(line: InputLine | undefined): unknown {
  if (line === undefined) return 'blank';
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
    [`${asked.replaceAll('-', '')} a.htm`, 'a.htm'],
    [JSON.stringify({ v: 1, path: 'x', result: 'missing', accession_no: asked, file_name: 'a' }), 'a'],
    [JSON.stringify({ accession_no: asked, file_name: 'a\nb', size: 3 }), 'a\nb'],
    [JSON.stringify({ accession_no: asked, file_name: null }), undefined],
    [`${JSON.stringify({ accession_no: asked })}\r`, undefined],
  ])('takes %j', (line, file) => {
    expect(told(parseInputLine(line))).toEqual([asked, file]);
  });

  it.each(['', ' ', '\t', '\r', '# comment', '  # comment'])('passes over %j', (line) => {
    expect(parseInputLine(line)).toBeUndefined();
  });

  it.each<[line: string, hint: string]>([
    [`${asked}/a.htm`, `${asked} a.htm`],
    [`https://x.example/data/1/${asked.replaceAll('-', '')}/a.htm`, `${asked} a.htm`],
    [`https://x.example/data/1/${asked}-index.htm b.htm`, `${asked} b.htm`],
    [`${asked}/`, asked],
  ])('says how to write %j', (line, hint) => {
    expect(parseInputLine(line)).toMatchObject({ kind: 'bad', fault: { hint: `write the line as: ${hint}` } });
  });

  it.each<[line: string, fault: RegExp]>([
    ['nonsense', /^'nonsense' is not an accession number/],
    [`"${asked}"`, /is not an accession number/],
    ['{"accession_no":', /broken JSON/],
    ['{}', /accession_no is not a string/],
    ['{"accession_no":5}', /accession_no is not a string/],
    [`{"accession_no":"${asked}","file_name":5}`, /file_name is not a string/],
    ['{"accession_no":"x"}', /'x' is not an accession number/],
    [`["${asked}"]`, /'\["0001234567-24-000001"\]' is not/],
  ])('refuses %j', (line, fault) => {
    const parsed = parseInputLine(line);
    expect(told(parsed)).toMatch(fault);
    expect(parsed).toMatchObject({ kind: 'bad', fault: { code: 'usage' } });
  });
});

describe('readBatches', () => {
  async function read(
    chunks: Iterable<Uint8Array | string>,
    warn: (message: string) => void = () => {},
  ): Promise<NumberedLine[]> {
    async function* stream() {
      yield* chunks;
    }
    const lines: NumberedLine[] = [];
    for await (const batch of readBatches(stream(), warn)) lines.push(...batch);
    return lines;
  }

  function* inOneBuffer(chunks: readonly Uint8Array[]) {
    const buffer = Buffer.alloc(1000);
    for (const chunk of chunks) {
      buffer.fill('#').set(chunk);
      yield buffer.subarray(0, chunk.length);
    }
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
    const texts = (lines: readonly NumberedLine[]) => lines.map((line) => [line.number, told(line)]);
    const whole = texts(await read([bytes]));
    expect(whole).toHaveLength(3);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
        expect(texts(await read(chunks))).toEqual(whole);
        // A stream may use its buffer again.
        expect(texts(await read(inOneBuffer(chunks)))).toEqual(whole);
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

  it('takes a line of 65,536 bytes, and none of one more', async () => {
    const longest = `${asked} ${'x'.repeat(65_536 - asked.length - 1)}`;
    const lines = await read([longest.slice(0, 70), longest.slice(70), `\n${longest}x\n`, `${longest}\n`]);
    expect(lines.map(({ kind, number }) => [number, kind])).toEqual([
      [1, 'entry'],
      [2, 'bad'],
      [3, 'entry'],
    ]);
  });

  it('is local_io when the input can not be read', async () => {
    async function* broken() {
      yield `${asked}\n`;
      throw Object.assign(new Error('x'), { code: 'EIO' });
    }
    const lines = readBatches(broken(), () => {});
    expect((await lines.next()).value).toMatchObject([{ number: 1 }]);
    await expect(lines.next()).rejects.toMatchObject({ code: 'local_io', message: expect.stringContaining('EIO') });
    async function* interrupted() {
      yield '';
      throw new FilingsError('interrupted', 'x', { signal: 2 });
    }
    await expect(readBatches(interrupted(), () => {}).next()).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('passes over records that ask for nothing, and warns of the first of a kind', async () => {
    const record = (result: string) => JSON.stringify({ v: 1, path: 'x', result, accession_no: asked, file_name: 'a' });
    const warnings: string[] = [];
    const lines = await read(
      [`${['unlisted', 'missing', 'unlisted', 'damaged', 'torn'].map(record).join('\n')}\n{"v":1,"summary":{}}\n`],
      (message) => warnings.push(message),
    );
    expect(lines.map((line) => [line.number, told(line)])).toEqual([[2, [asked, 'a']]]);
    expect(warnings).toEqual([
      expect.stringMatching(/line 1 .*'unlisted'/),
      expect.stringMatching(/line 4 .*'damaged'/),
      expect.stringMatching(/line 5 .*'torn'/),
    ]);
  });
});
