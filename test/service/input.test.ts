import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open as openFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { type Line, openInput, readLines } from '../../src/input/lines.ts';
import { proving } from '../proving.ts';
import { test } from './transfer-fixture.ts';

const filing = '0001234567-24-000001';
const other = '0001234567-24-000002';
const digits = filing.replaceAll('-', '');
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
    line.kind === 'invalid' ? [line.number, line.error.message] : [line.number, line.accession, line.fileName],
  );
const json = (members: object) => JSON.stringify({ accession_no: filing, ...members });

describe('a line', () => {
  test.each`
    line                                                            | file
    ${filing}                                                       | ${undefined}
    ${`  ${filing}  `}                                              | ${undefined}
    ${`${filing}\ta.htm`}                                           | ${'a.htm'}
    ${`${filing} \t  a b.htm`}                                      | ${'a b.htm'}
    ${`${filing} a.htm `}                                           | ${'a.htm '}
    ${`${filing} a.htm\r`}                                          | ${'a.htm'}
    ${`${filing} "a.htm"`}                                          | ${'"a.htm"'}
    ${`${filing} # a comment`}                                      | ${undefined}
    ${`${filing}\t\t# a comment`}                                   | ${undefined}
    ${`${filing}\t# no comment`}                                    | ${'# no comment'}
    ${`${filing} a # no comment`}                                   | ${'a # no comment'}
    ${`${filing} 20240101.htm`}                                     | ${'20240101.htm'}
    ${`${filing} ${other}.txt`}                                     | ${`${other}.txt`}
    ${`${digits} a.htm`}                                            | ${'a.htm'}
    ${json({ v: 1, path: 'x', result: 'missing', file_name: 'a' })} | ${'a'}
    ${json({ file_name: 'a\nb', size: 3 })}                         | ${'a\nb'}
    ${json({ file_name: other })}                                   | ${other}
    ${json({ file_name: null })}                                    | ${undefined}
    ${`${json({})}\r`}                                              | ${undefined}
  `('is read: $line', async ({ line, file }: { line: string; file: string | undefined }) => {
    expect(contentsOf(await read([line]))).toEqual([[1, filing, file]]);
  });

  test('is skipped if it is blank, a comment, or a record of verify that names nothing to download', async () => {
    const records = [
      { v: 1, summary: {} },
      { v: 1, path: 'SHA256SUMS', result: 'damaged' },
    ];
    const unlisted = json({ v: 1, path: 'x/a', result: 'unlisted', file_name: 'b' });
    const lines = ['', ' ', '\t', '\r', '# comment', '  # comment', ...records.map((each) => JSON.stringify(each))];
    expect(await read([[...lines, unlisted].join('\n')])).toEqual([]);
  });

  // What people bring from other programs. No line becomes the name of a file.
  test.each`
    line                                | why
    ${'nonsense'}                       | ${"'nonsense' is not an accession number"}
    ${`* ${filing} a.htm`}              | ${"'*' is not an accession number"}
    ${`${filing} 1234567-24-000002`}    | ${'has two accession numbers'}
    ${`${filing} ${other} ${filing}`}   | ${'has two accession numbers: write each on its own line'}
    ${`${filing}\t${digits}`}           | ${'has two accession numbers'}
    ${`${filing},${other}`}             | ${'no white space between the columns: separate them by a TAB'}
    ${`${digits}, a.htm`}               | ${'no white space between the columns'}
    ${`"${filing}","a.htm"`}            | ${'quoted: remove the quotes'}
    ${`${filing}\ta.htm\t12`}           | ${'has a third column'}
    ${`${filing}\r${other}\ra.htm`}     | ${'the lines end with CR only'}
    ${'1.23457E+14'}                    | ${'a number rounded by a spreadsheet'}
    ${'{'}                              | ${'part of JSON that spans several lines: print one object per line with jq -c'}
    ${`  "accession_no": "${filing}",`} | ${'part of JSON that spans several lines'}
    ${'},'}                             | ${'part of JSON that spans several lines'}
    ${`[${json({})}]`}                  | ${"a JSON array: print one object per line with jq -c '.[]'"}
    ${`{"accession_no": "${filing}",`}  | ${'invalid JSON: an object must be on one line'}
    ${'{"accession_no":5}'}             | ${'accession_no is not a string'}
    ${json({ file_name: 5 })}           | ${'file_name is not a string'}
    ${'{"accession_no":"x"}'}           | ${"'x' is not an accession number"}
    ${`${filing} a\0${filing} b\0`}     | ${'contains NUL'}
    ${Buffer.of(0x30, 0xff)}            | ${'not valid UTF-8 or UTF-16'}
    ${`${filing} a\ufffd.htm`}          | ${'not valid UTF-8 or UTF-16'}
  `('is invalid, with the reason: $why', async ({ line, why }: { line: string | Buffer; why: string }) => {
    const lines = await read([line, `\n${filing}`]);
    expect(contentsOf(lines)).toEqual([
      [1, expect.stringMatching(/^line 1: /)],
      [2, filing, undefined],
    ]);
    expect(lines[0]).toMatchObject({ error: { code: 'usage', message: expect.stringContaining(why) } });
  });

  test('is read if it has 65,536 characters, and invalid if it is longer, unless it is an object', async () => {
    const longest = `${filing} ${'x'.repeat(65_536 - filing.length - 1)}`;
    const record = json({ file_name: 'a', description: 'y"'.repeat(100_000) });
    const lines = await read([longest.slice(0, 70), longest.slice(70), `\n${longest}x\n`, `${record}\n`]);
    expect(lines.map(({ kind }) => kind)).toEqual(['entry', 'invalid', 'entry']);
    expect(lines[1]).toMatchObject({ error: { message: expect.stringContaining('longer than 65536 characters') } });
  });

  test.each`
    where                             | value
    ${'between two characters'}       | ${'x'}
    ${'in the middle of a character'} | ${''}
  `('is invalid, with its limit in bytes, if it is an object that is cut $where', async ({ value }) => {
    const start = `{"accession_no":"${filing}","title":"${value}`;
    const lines = await read([start, 'é'.repeat(16 << 20), `"}\n${other}`]);
    expect(lines).toMatchObject([
      { number: 1, error: { code: 'usage', message: expect.stringContaining('longer than 33554432 bytes') } },
      { number: 2, accession: other },
    ]);
  });
});

describe('an input', () => {
  const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
  const swapped = (text: string) => utf16(text).swap16();
  const invalid = expect.stringContaining('not valid UTF-8 or UTF-16');

  test.each`
    encoding               | encode
    ${'UTF-8'}             | ${(text: string) => Buffer.from(`\ufeff${text}`)}
    ${'UTF-16'}            | ${utf16}
    ${'big-endian UTF-16'} | ${swapped}
  `('in $encoding is read however its bytes are cut, with or without a last line feed', async ({ encode }) => {
    const text = `# head\r\n\n${filing} ñ日本🙂.htm\r\nbad\n${json({ file_name: 'b\n' })}\r\n# x\n${filing} c.htm`;
    const bad = "line 4: 'bad' is not an accession number";
    const contents = [
      [3, filing, 'ñ日本🙂.htm'],
      [4, bad],
      [5, filing, 'b\n'],
      [7, filing, 'c.htm'],
    ];
    const bytes: Buffer = encode(text);
    expect(contentsOf(await read([encode(`${text}\n`)]))).toEqual(contents);
    const eachAlone = Array.from(bytes.keys());
    const cut = fc.oneof(fc.array(fc.nat(bytes.length), { maxLength: 6 }), fc.constant(eachAlone));
    const property = fc.asyncProperty(cut, async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
      expect(contentsOf(await read(inOneBuffer(chunks)))).toEqual(contents);
    });
    await fc.assert(property, { seed: 16, numRuns: proving ? 300 : 30 });
  });

  /** Yields chunks as a stream that uses its buffer again. */
  function* inOneBuffer(chunks: readonly Uint8Array[]) {
    const buffer = Buffer.alloc(1000);
    for (const chunk of chunks) {
      buffer.fill('#').set(chunk);
      yield buffer.subarray(0, chunk.length);
    }
  }

  test('in UTF-16 has an invalid line for half a character, and for an end within one', async () => {
    for (const encode of [utf16, swapped]) {
      const lines = ['\ud83d', '\ude42x', 'x\ud83d\ud83d', '🙂'].map((name) => `${filing} ${name}\n`).join('');
      const halves = [1, 2, 3].map((number) => [number, invalid]);
      expect(contentsOf(await read([encode(lines)]))).toEqual([...halves, [4, filing, '🙂']]);
      for (const cut of [1, 2, 3]) {
        const bytes = encode(`${filing} a\n${filing} b🙂`).subarray(0, -cut);
        expect(contentsOf(await read([bytes])), `${cut}`).toEqual([
          [1, filing, 'a'],
          [2, invalid],
        ]);
      }
    }
  });

  test('of a single byte is not UTF-16', async () => {
    expect(contentsOf(await read([Buffer.of(0xff)]))).toEqual([[1, invalid]]);
    expect(await read([Buffer.of(0x23)])).toEqual([]);
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

  test('without any line causes a warning', async () => {
    const warningsOf = async (input: string | Buffer) => {
      const messages: string[] = [];
      await read([input], (message) => messages.push(message));
      return messages;
    };
    for (const empty of ['', '\n\r\n# x', '\ufeff', Buffer.of(0xff, 0xfe)])
      expect(await warningsOf(empty)).toEqual(['the input has no lines']);
    for (const input of ['{"v":1,"summary":{}}\n', 'x']) expect(await warningsOf(input)).toEqual([]);
  });
});

describe('--input', () => {
  const open = (path: string, cwd: string) => openInput(path, { stdin: new PassThrough(), cwd }, () => {});

  test('may name a file or a FIFO, whose writer may be slow', async ({ directory }) => {
    await writeFile(join(directory, 'input'), filing);
    expect(await read(open('input', directory))).toHaveLength(1);
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    const lines = read(open('fifo', directory));
    const writer = await openFile(join(directory, 'fifo'), 'w');
    for (const _ of [1, 2]) {
      await writer.write(`${filing}\n`);
      for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    }
    await writer.close();
    expect(await lines).toHaveLength(2);
  });

  test('refuses what cannot be read with a usage error', async ({ directory }) => {
    await writeFile(join(directory, 'input'), filing);
    const fd = openSync(directory, 'r');
    onTestFinished(() => closeSync(fd));
    const stdin = Object.assign(new PassThrough(), { fd });
    const refused = (message: string) => expect.objectContaining({ code: 'usage', message: `--input ${message}` });
    expect(() => openInput('-', { stdin, cwd: '/' }, () => {})).toThrow(refused('-: it is a directory'));
    expect(() => open('.', directory)).toThrow(refused('.: it is a directory'));
    expect(() => open('missing', directory)).toThrow(refused('missing: no such file or directory (ENOENT)'));
    expect(() => open('input/below', directory)).toThrow(refused('input/below: not a directory (ENOTDIR)'));
  });

  test('stops waiting for an idle pipe when it is closed', async ({ directory }) => {
    execFileSync('mkfifo', [join(directory, 'fifo')]);
    const idle = open('fifo', directory);
    const reading = read(idle);
    setTimeout(() => idle.destroy());
    await expect(reading).rejects.toThrow();
  });
});
