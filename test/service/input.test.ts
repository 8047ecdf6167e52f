import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { type Line, openInput, readLines } from '../../src/input/lines.ts';
import { temporaryDirectory } from './transfer-fixture.ts';

const filing = '0001234567-24-000001';
const other = '0001234567-24-000002';
type Chunks = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

async function read(chunks: Chunks, warn: (message: string) => void = () => {}): Promise<Line[]> {
  async function* stream() {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const batch of readLines(stream(), warn)) lines.push(...batch);
  return lines;
}

/** The contents of lines: `[number, accession, file]`, or `[number, message]` of an invalid line. */
const contentsOf = (lines: readonly Line[]) =>
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
  test.each<[line: string, file: string | undefined]>([
    [filing, undefined],
    [`\ufeff${filing}`, undefined],
    [`  ${filing}  `, undefined],
    [`${filing}\ta.htm`, 'a.htm'],
    [`${filing} \t  a b.htm`, 'a b.htm'],
    [`${filing} a.htm `, 'a.htm '],
    [`${filing} a.htm\r`, 'a.htm'],
    [`${filing} "a.htm"`, '"a.htm"'],
    [`${filing} # a comment`, undefined],
    [`${filing}\t\t# a comment`, undefined],
    [`${filing}\t# no comment`, '# no comment'],
    [`${filing} a # no comment`, 'a # no comment'],
    [`${filing} 20240101.htm`, '20240101.htm'],
    [`${filing} ${other}.txt`, `${other}.txt`],
    [`${filing.replaceAll('-', '')} a.htm`, 'a.htm'],
    [JSON.stringify({ v: 1, path: 'x', result: 'missing', accession_no: filing, file_name: 'a' }), 'a'],
    [JSON.stringify({ accession_no: filing, file_name: 'a\nb', size: 3 }), 'a\nb'],
    [JSON.stringify({ accession_no: filing, file_name: other }), other],
    [JSON.stringify({ accession_no: filing, file_name: null }), undefined],
    [`${JSON.stringify({ accession_no: filing })}\r`, undefined],
  ])('is read: %j', async (line, file) => {
    expect(contentsOf(await read([line]))).toEqual([[1, filing, file]]);
  });

  test('is skipped if it is blank or a comment', async () => {
    expect(await read(['\n \n\t\n\r\n# comment\n  # comment'])).toEqual([]);
  });

  // What people bring from other programs. No line becomes the name of a file.
  test.each<[line: string | Uint8Array, why: string]>([
    ['nonsense', "'nonsense' is not an accession number"],
    [`${filing}-index.htm`, `'${filing}-index.htm' is not an accession number`],
    [`https://host/${filing}.txt`, 'is not an accession number'],
    ['123456724000001', "'123456724000001' is not an accession number"],
    [`* ${filing} a.htm`, "'*' is not an accession number"],
    [`${filing} 1234567-24-000002`, 'two accession numbers'],
    [`${filing} ${other}`, 'two accession numbers: write each on its own line'],
    [`${filing} ${other} ${filing}`, 'two accession numbers'],
    [`${filing}\t${other.replaceAll('-', '')}`, 'two accession numbers'],
    [`${filing},${other}`, 'columns without white space between them: write a TAB'],
    [`${filing.replaceAll('-', '')}, a.htm`, 'columns without white space'],
    [`"${filing}","a.htm"`, 'quoted: write the accession number without quotes'],
    [`${filing}\ta.htm\t12`, 'a third column'],
    [`${filing}\r${other}\ra.htm`, 'the lines end with CR alone'],
    ['1.23457E+14', 'a number rounded by a spreadsheet'],
    ['{', 'part of a JSON text over several lines: print one object per line with jq -c'],
    [`  "accession_no": "${filing}",`, 'part of a JSON text over several lines'],
    ['},', 'part of a JSON text over several lines'],
    [`[{"accession_no":"${filing}"}]`, "a JSON array: print one object per line with jq -c '.[]'"],
    [`{"accession_no": "${filing}",`, 'broken JSON: an object must be on one line'],
    ['{"accession_no":5}', 'accession_no is not a string'],
    [`{"accession_no":"${filing}","file_name":5}`, 'file_name is not a string'],
    ['{"accession_no":"x"}', "'x' is not an accession number"],
    [`${filing} a\0${filing} b\0`, 'NUL characters inside'],
    [`${filing}\0${other}\0`, 'NUL characters inside'],
    [Buffer.from([0x30, 0xff]), 'not valid UTF-8 or UTF-16'],
    [`${filing} a\ufffd.htm`, 'not valid UTF-8 or UTF-16'],
    ['y'.repeat(200_000), 'longer than 65536 characters'],
  ])('is invalid, with the reason: %.60j', async (line, why) => {
    const lines = await read([line, `\n${filing}`]);
    expect(contentsOf(lines)).toEqual([
      [1, expect.stringMatching(/^line 1: /)],
      [2, filing, undefined],
    ]);
    expect(lines[0]).toMatchObject({ error: { code: 'usage', message: expect.stringContaining(why) } });
  });

  test('is read if it has 65,536 characters, and invalid if it is longer', async () => {
    const longest = `${filing} ${'x'.repeat(65_536 - filing.length - 1)}`;
    const lines = await read([longest.slice(0, 70), longest.slice(70), `\n${longest}x\n`, `${longest}\n`]);
    expect(lines.map(({ kind }) => kind)).toEqual(['entry', 'bad', 'entry']);
  });
});

describe('an input', () => {
  test('is read the same however its bytes are cut, with or without a last line feed', async () => {
    const bytes = Buffer.from(`\ufeff# head\n\n${filing} ñ日本🙂.htm\r\nbad\n${filing}\n# x\n${filing} b.htm`);
    const whole = contentsOf(await read([bytes]));
    expect(whole.map(([number]) => number)).toEqual([3, 4, 5, 7]);
    expect(contentsOf(await read([bytes, '\n']))).toEqual(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 6 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
        expect(contentsOf(await read(chunks))).toEqual(whole);
        // A stream may reuse its buffer.
        expect(contentsOf(await read(inOneBuffer(chunks)))).toEqual(whole);
      }),
    );
  });

  test('fails with local_io if it cannot be read, and with the error of a signal', async () => {
    async function* broken(error: Error) {
      yield `${filing}\n`;
      throw error;
    }
    const reading = read(broken(Object.assign(new Error('x'), { code: 'EIO' })));
    await expect(reading).rejects.toMatchObject({ code: 'local_io', message: expect.stringContaining('EIO') });
    await expect(read(broken(new FilingsError('interrupted', 'x')))).rejects.toMatchObject({ code: 'interrupted' });
  });

  test('ignores records of verify without a filing and of unlisted files, and reads the others', async () => {
    const file = { v: 1, path: 'x/a', result: 'missing', accession_no: filing, file_name: 'a' };
    const unlisted = { ...file, result: 'unlisted', file_name: 'b' };
    const records = [
      file,
      unlisted,
      { v: 1, path: 'SHA256SUMS', result: 'damaged' },
      { v: 1, summary: { missing: 1 } },
    ];
    const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    expect(contentsOf(await read([input]))).toEqual([[1, filing, 'a']]);
  });

  test.each<[what: string, input: string | Buffer, warns: boolean]>([
    ['nothing', '', true],
    ['blank lines and comments', '\n\r\n# x', true],
    ['a byte-order mark', '\ufeff', true],
    ['a byte-order mark of UTF-16', Buffer.from([0xff, 0xfe]), true],
    ['a summary of verify', '{"v":1,"summary":{}}\n', false],
    ['an invalid line', 'x', false],
  ])('of %s warns of an input without lines: %s', async (_, input, warns) => {
    const messages: string[] = [];
    await read([input], (message) => messages.push(message));
    expect(messages).toEqual(warns ? ['the input has no lines'] : []);
  });
});

describe('UTF-16 with a byte-order mark', () => {
  const ORDERS: [name: string, encode: (text: string) => Buffer][] = [
    ['little-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ];

  describe.each(ORDERS)('%s', (_, encode) => {
    const text = `# head\r\n\r\n${filing} ñ日本🙂.htm\r\nbad\r\n{"accession_no":"${filing}","file_name":"b\\n"}\r\n${filing} c.htm`;
    const expected = [
      [3, filing, 'ñ日本🙂.htm'],
      [4, expect.stringMatching(/'bad' is not an accession number/)],
      [5, filing, 'b\n'],
      [6, filing, 'c.htm'],
    ];

    test('is read like UTF-8, however its bytes are cut', async () => {
      const bytes = encode(text);
      expect(contentsOf(await read([bytes]))).toEqual(expected);
      expect(contentsOf(await read([...bytes].map((byte) => Buffer.from([byte]))))).toEqual(expected);
    });

    test('with half a character is invalid in that line alone', async () => {
      const lines = ['\ud83d', '\ude42x', 'x\ud83d\ud83d'].map((name) => `${filing} ${name}\n`).join('');
      const invalid = expect.stringMatching(/not valid UTF-8 or UTF-16/);
      expect(contentsOf(await read([encode(`${lines}${filing} 🙂`)]))).toEqual([
        [1, invalid],
        [2, invalid],
        [3, invalid],
        [4, filing, '🙂'],
      ]);
    });

    test('that ends within a character has an invalid last line', async () => {
      const invalid = expect.stringMatching(/not valid UTF-8 or UTF-16/);
      const whole = encode(`${filing} a\n${filing} b🙂`);
      for (const cut of [1, 2, 3]) {
        expect(contentsOf(await read([whole.subarray(0, -cut)])), `${cut}`).toEqual([
          [1, filing, 'a'],
          [2, invalid],
        ]);
      }
    });
  });

  test('is not recognized in a single byte', async () => {
    expect(contentsOf(await read([Buffer.from([0xff])]))).toEqual([[1, expect.stringMatching(/not valid UTF-8/)]]);
    expect(await read([Buffer.from([0x23])])).toEqual([]);
  });
});

describe('openInput', () => {
  async function openPath(make: (path: string) => unknown, name = 'input') {
    const cwd = await temporaryDirectory();
    await make(join(cwd, 'input'));
    return { bytes: openInput(name, { stdin: new PassThrough(), cwd }, () => {}), path: join(cwd, 'input') };
  }
  const plain = (path: string) => writeFile(path, filing);
  const fifo = (path: string) => execFileSync('mkfifo', [path]);

  test('opens a file and a FIFO', async () => {
    expect(await read((await openPath(plain)).bytes)).toHaveLength(1);
    const { bytes, path } = await openPath(fifo);
    await writeFile(path, `${filing}\n`);
    expect(await read(bytes)).toHaveLength(1);
  });

  test('refuses a directory as stdin with a usage error', () => {
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
  ])('refuses %s with a usage error', async (path, message) => {
    await expect(openPath(plain, path)).rejects.toMatchObject({ code: 'usage', message: `--input ${message}` });
  });

  test('returns a stream whose closing ends the reading of an idle pipe', async () => {
    const { bytes: idle } = await openPath(fifo);
    const reading = read(idle);
    setImmediate(() => idle.destroy());
    await expect(reading).rejects.toThrow();
  });
});
