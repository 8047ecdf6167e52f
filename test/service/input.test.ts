import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { type Line, openInput, readLines } from '../../src/batch/input.ts';
import { FilingsError } from '../../src/errors.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const asked = '0001234567-24-000001';
type Chunks = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

async function read(chunks: Chunks, warn: (message: string) => void = () => {}): Promise<Line[]> {
  async function* stream() {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const batch of readLines(stream(), warn)) lines.push(...batch);
  return lines;
}

/** What lines say: `[number, accession, file]`, or `[number, why]`. */
const told = (lines: readonly Line[]) =>
  lines.map((line) =>
    line.kind === 'bad' ? [line.number, line.error.message] : [line.number, line.accession, line.file],
  );

function* inOneBuffer(chunks: readonly Uint8Array[]) {
  const buffer = Buffer.alloc(1000);
  for (const chunk of chunks) {
    buffer.fill('#').set(chunk);
    yield buffer.subarray(0, chunk.length);
  }
}

describe('a line', () => {
  it.each<[line: string, file: string | undefined]>([
    [asked, undefined],
    [`\ufeff${asked}`, undefined],
    [`${asked}\ta.htm`, 'a.htm'],
    [`${asked} \t  a b.htm`, 'a b.htm'],
    [`${asked} a.htm `, 'a.htm '],
    [`${asked} # no comment`, '# no comment'],
    [`${asked.replaceAll('-', '')} a.htm`, 'a.htm'],
    [JSON.stringify({ v: 1, path: 'x', result: 'missing', accession_no: asked, file_name: 'a' }), 'a'],
    [JSON.stringify({ accession_no: asked, file_name: 'a\nb', size: 3 }), 'a\nb'],
    [JSON.stringify({ accession_no: asked, file_name: null }), undefined],
    [`${JSON.stringify({ accession_no: asked })}\r`, undefined],
  ])('%j', async (line, file) => {
    expect(told(await read([line]))).toEqual([[1, asked, file]]);
  });

  it('blank or a comment is passed over', async () => {
    expect(await read(['\n \n\t\n\r\n# comment\n  # comment'])).toEqual([]);
  });

  it.each<[line: string | Uint8Array, why: RegExp]>([
    ['nonsense', /^line 1: 'nonsense' is not an accession number/],
    ['{"accession_no":', /broken JSON/],
    ['{"accession_no":5}', /accession_no is not a string/],
    [`{"accession_no":"${asked}","file_name":5}`, /file_name is not a string/],
    ['{"accession_no":"x"}', /'x' is not an accession number/],
    [`["${asked}"]`, /'\["0001234567-24-000001"\]' is not/],
    [Buffer.from([0x30, 0xff]), /not valid UTF-8/],
    ['y'.repeat(200_000), /longer than 65536 bytes/],
  ])('bad: %.40j', async (line, why) => {
    const lines = await read([line, `\n${asked}`]);
    expect(told(lines)).toEqual([
      [1, expect.stringMatching(why)],
      [2, asked, undefined],
    ]);
    expect(lines[0]).toMatchObject({ error: { code: 'usage' } });
  });

  it('of 65,536 bytes is read, and none of one more', async () => {
    const longest = `${asked} ${'x'.repeat(65_536 - asked.length - 1)}`;
    const lines = await read([longest.slice(0, 70), longest.slice(70), `\n${longest}x\n`, `${longest}\n`]);
    expect(lines.map(({ kind }) => kind)).toEqual(['entry', 'bad', 'entry']);
  });
});

describe('an input', () => {
  it('reads the same however its bytes are cut, blank lines counted, with or without a last line feed', async () => {
    const bytes = Buffer.from(`\ufeff# head\n\n${asked} ñ日本🙂.htm\r\nbad\n${asked}\n# x\n${asked} b.htm`);
    const whole = told(await read([bytes]));
    expect(whole.map(([number]) => number)).toEqual([3, 4, 5, 7]);
    expect(told(await read([bytes, '\n']))).toEqual(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
        expect(told(await read(chunks))).toEqual(whole);
        // A stream may use its buffer again.
        expect(told(await read(inOneBuffer(chunks)))).toEqual(whole);
      }),
    );
  });

  it('that can not be read is local_io; a signal stays one', async () => {
    async function* broken(error: Error) {
      yield `${asked}\n`;
      throw error;
    }
    const reading = read(broken(Object.assign(new Error('x'), { code: 'EIO' })));
    await expect(reading).rejects.toMatchObject({ code: 'local_io', message: expect.stringContaining('EIO') });
    await expect(read(broken(new FilingsError('interrupted', 'x')))).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('passes over records that ask for nothing, and warns of the first of a kind', async () => {
    const record = (result: string) => JSON.stringify({ v: 1, path: 'x', result, accession_no: asked, file_name: 'a' });
    const warnings: string[] = [];
    const records = ['unlisted', 'missing', 'unlisted', 'damaged', 'torn'].map(record).join('\n');
    const lines = await read([`${records}\n{"v":1,"summary":{}}\n`], (message) => warnings.push(message));
    expect(told(lines)).toEqual([[2, asked, 'a']]);
    expect(warnings).toEqual([
      expect.stringMatching(/line 1 .*'unlisted'/),
      expect.stringMatching(/line 4 .*'damaged'/),
      expect.stringMatching(/line 5 .*'torn'/),
    ]);
  });

  const file = { accession_no: asked, file_name: 'a' };
  const path = `mirror/${asked}/a`;

  it.each<[what: string, record: object]>([
    ['a result alone', { ...file, result: 'torn' }],
    ['a path, but no version', { ...file, path, result: 'unlisted' }],
    ['a version, but no path', { ...file, v: 1, result: 'damaged' }],
    ['a version that is a text', { ...file, v: '1', path, result: 'torn' }],
    ['a path that is none', { ...file, v: 1, path: [path], result: 'torn' }],
    ['another member', { ...file, v: 1, path, result: 'torn', size: 3 }],
    ['a path that ends otherwise', { ...file, v: 1, path: `${path}.gz`, result: 'torn' }],
    ['a path of another filing', { ...file, v: 1, path: `/${asked.replace('1', '2')}/a`, result: 'torn' }],
    ['a path in an archive', { ...file, v: 1, path: 'edgar/data/a', result: 'unlisted' }],
    ['a summary', { ...file, v: 1, summary: { text: 'x' } }],
    ['an empty summary', { ...file, summary: null }],
  ])('takes a record of a listing in which the service has put %s', async (_, record) => {
    expect(told(await read([JSON.stringify(record)]))).toEqual([[1, asked, 'a']]);
  });

  it.each<[what: string, record: object]>([
    ['as it is written', { v: 1, path, result: 'torn', ...file }],
    ['with a member of a later version', { v: 1, path, result: 'torn', ...file, size: 3 }],
    ['with its members sorted', { ...file, path, result: 'torn', v: 1 }],
    ['with an absolute path', { ...file, path: `/data/${asked.replaceAll('-', '')}/${asked}/a`, result: 'torn', v: 1 }],
    ['without a filing', { path: 'SHA256SUMS', result: 'torn', v: 1 }],
  ])('ignores a torn record of verify %s', async (_, record) => {
    expect(await read([JSON.stringify(record)])).toEqual([]);
  });

  it.each<[what: string, input: string | Buffer, warnings: RegExp[]]>([
    ['nothing', '', [/^warning: the input has no lines$/]],
    ['blank lines and comments', '\n\r\n# x', [/no lines/]],
    ['a byte-order mark', '\ufeff', [/no lines/]],
    ['a byte-order mark of UTF-16', Buffer.from([0xff, 0xfe]), [/no lines/]],
    ['a summary of verify', '{"v":1,"summary":{}}\n', []],
    ['a record of verify', `${JSON.stringify({ v: 1, path, result: 'torn' })}\n`, [/line 1 .*'torn'/]],
    ['an invalid line', 'x', []],
  ])('of %s warns as it should', async (_, input, warnings) => {
    const said: string[] = [];
    await read([input], (message) => said.push(message));
    expect(said).toEqual(warnings.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe('UTF-16 with a byte-order mark', () => {
  const ORDERS: [name: string, encode: (text: string) => Buffer][] = [
    ['little-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ];

  describe.each(ORDERS)('%s', (_, encode) => {
    const text = `# head\r\n\r\n${asked} ñ日本🙂.htm\r\nbad\r\n{"accession_no":"${asked}","file_name":"b\\n"}\r\n${asked} c.htm`;
    const expected = [
      [3, asked, 'ñ日本🙂.htm'],
      [4, expect.stringMatching(/'bad' is not an accession number/)],
      [5, asked, 'b\n'],
      [6, asked, 'c.htm'],
    ];

    it('is read as UTF-8 is, however its bytes are cut', async () => {
      const bytes = encode(text);
      expect(told(await read([bytes]))).toEqual(expected);
      expect(told(await read([...bytes].map((byte) => Buffer.from([byte]))))).toEqual(expected);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
          const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
          expect(told(await read(chunks))).toEqual(expected);
          // A stream may use its buffer again.
          expect(told(await read(inOneBuffer(chunks)))).toEqual(expected);
        }),
      );
    });

    it('with half a character is invalid in that line alone', async () => {
      const lines = ['\ud83d', '\ude42x', 'x\ud83d\ud83d'].map((name) => `${asked} ${name}\n`).join('');
      const invalid = expect.stringMatching(/not valid UTF-8 or UTF-16/);
      expect(told(await read([encode(`${lines}${asked} 🙂`)]))).toEqual([
        [1, invalid],
        [2, invalid],
        [3, invalid],
        [4, asked, '🙂'],
      ]);
    });

    it('that ends within a character has an invalid last line', async () => {
      const invalid = expect.stringMatching(/not valid UTF-8 or UTF-16/);
      const whole = encode(`${asked} a\n${asked} b🙂`);
      for (const cut of [1, 2, 3]) {
        expect(told(await read([whole.subarray(0, -cut)])), `${cut}`).toEqual([
          [1, asked, 'a'],
          [2, invalid],
        ]);
      }
    });

    it('has lines of at most 65,536 bytes of UTF-8', async () => {
      const longest = `${asked} ${'x'.repeat(65_536 - asked.length - 1)}`;
      const lines = await read([encode(`\n${longest}\n${longest}x\n${asked}`)]);
      expect(lines.map(({ kind }) => kind)).toEqual(['entry', 'bad', 'entry']);
    });
  });

  it('is not seen in a single byte', async () => {
    expect(told(await read([Buffer.from([0xff])]))).toEqual([[1, expect.stringMatching(/not valid UTF-8/)]]);
    expect(await read([Buffer.from([0x23])])).toEqual([]);
  });
});

describe('openInput', () => {
  async function opened(make: (path: string) => unknown, name = 'input') {
    const cwd = await temporaryDirectory();
    await make(join(cwd, 'input'));
    return { bytes: openInput(name, { stdin: new PassThrough(), cwd }, () => {}), path: join(cwd, 'input') };
  }
  const plain = (path: string) => writeFile(path, asked);
  const fifo = (path: string) => execFileSync('mkfifo', [path]);

  test('a file, a FIFO', async () => {
    expect(await read((await opened(plain)).bytes)).toHaveLength(1);
    const { bytes, path } = await opened(fifo);
    await writeFile(path, `${asked}\n`);
    expect(await read(bytes)).toHaveLength(1);
  });

  test('a directory as stdin is a usage error', () => {
    const fd = openSync(tmpdir(), 'r');
    onTestFinished(() => closeSync(fd));
    const stdin = Object.assign(new PassThrough(), { fd });
    expect(() => openInput('-', { stdin, cwd: '/' }, () => {})).toThrow(
      expect.objectContaining({ code: 'usage', message: '--input -: it is a directory' }),
    );
  });

  test.each([
    ['missing', 'missing: no such file or directory (ENOENT)'],
    ['input/below', 'input/below: not a directory (ENOTDIR)'],
    ['.', '.: it is a directory'],
  ])('%s is a usage error', async (path, message) => {
    await expect(opened(plain, path)).rejects.toMatchObject({ code: 'usage', message: `--input ${message}` });
  });

  test('closing it ends the reading of an idle pipe', async () => {
    const { bytes: idle } = await opened(fifo);
    const reading = read(idle);
    setImmediate(() => idle.destroy());
    await expect(reading).rejects.toThrow();
  });
});
