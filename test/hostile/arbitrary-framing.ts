// Arbitrary framings of an HTTP body: a length, chunks, both or neither, most of them correct but for one detail. A
// near miss tests a parser better than noise.
import fc from 'fast-check';
import type { RawChunk, RawFraming, WrittenSize } from './raw-answer.ts';

/** A failure of a later alternative is shrunk to the first one if that fails, too. */
export const CROSS = { withCrossShrink: true };

/** Mostly `sound`, sometimes one of `odd`. A failure is shrunk to `sound`. */
export function mostly<T>(sound: T, odd: readonly T[], weight = 8): fc.Arbitrary<T> {
  return fc.oneof(CROSS, { weight, arbitrary: fc.constant(sound) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
}

const LENGTH_FORMS =
  `+#|-#| #|# |#\t|0#|0000000000000000000000#|0x#|#h|#;|#.0|#e0|"#"|# bytes|#, #|#,#|#,|,#|# #|#, 7|7, #|| |-|\
many|\xb2|#\x0b|#\x00|99999999999999999999|9223372036854775807|9223372036854775808|18446744073709551616|\
4294967296|999999999999999|1000000000000000|1844674407370955161#`.split('|');
const CHUNK_FORMS =
  `0#|000000000000000#|0000000000000000000000#|+#|-#|0x#| #|# |#\t|# ;|#;|#;a|#;a=b|#;a="b;c"|#;a="|#;a=b;c=d|\
#;\x00|#;a\xff|#;${'x'.repeat(5000)}|#;${'x'.repeat(17_000)}|#,|#g|x#||#.0|#\r|\n#|\r\n#|ffffffffffffffff|\
10000000000000000|7fffffffffffffff|8000000000000000|fffffffff|1000000000000000#|FFFFFFFF`.split('|');
const CODINGS =
  `Chunked|CHUNKED|chunked | chunked|\tchunked\t|xchunked|chunkedx|chunked;|chunked;q=1|chunked, identity|\
identity, chunked|identity|gzip, chunked|chunked, gzip|gzip|chunked, chunked|chunked,|,chunked|"chunked"||\
chunk\x00ed|chunked\x0b|deflate|x|trailers`.split('|');
const LASTS =
  `|0|0\r|0\r\n|0\r\n\r|0\n\n|0\r\n\n|0\n\r\n|00\r\n\r\n|0000000000000000000\r\n\r\n|0;x=y\r\n\r\n|0 \r\n\r\n|\
0\r\nX-Sum: 1\r\n\r\n|0\r\nX: y\r\nZ: a\r\n\r\n|0\r\nX: y\r\n z\r\n\r\n|0\r\nContent-Length: 3\r\n\r\n|\
0\r\nTransfer-Encoding: x\r\n\r\n|0\r\nnonsense\r\n\r\n|0\r\nX: y\r\n|0\r\nX: y\n\n|0\r\n: y\r\n\r\n|\
0\r\nX: \x00\r\n\r\n|0\r\nX: ${'y'.repeat(17_000)}\r\n\r\n|-0\r\n\r\n|0x0\r\n\r\n|\r\n|x\r\n\r\n|\
0\r\n\r\n0\r\n\r\n|0\r\n${'X: y\r\n'.repeat(3000)}\r\n`.split('|');

const size = (forms: readonly string[], weight = 12): fc.Arbitrary<WrittenSize> =>
  fc.record({ form: mostly('#', forms, weight), off: mostly(0, [1, -1, 2, -2, 16, -16, 5000], 16) });

/** Text in which a shifted, repeated or missing piece is visible. Some texts look like syntax of HTTP. */
export const TEXT: fc.Arbitrary<string> = fc.oneof(
  CROSS,
  { weight: 6, arbitrary: fc.nat({ max: 40 }).map(numbered) },
  { weight: 1, arbitrary: fc.constantFrom(1000, 4096, 16_384, 65_536, 70_000).map(numbered) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['text\r\n', 'text\r\n\r\n', '\r\n', '\n', '0\r\n\r\n', 'a\x00b', '\xff\xfe', '5\r\nhello\r\n0\r\n\r\n'],
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno',
    ),
  },
);

function numbered(length: number): string {
  const words = Array.from({ length: Math.ceil(length / 6) }, (_, index) => `${index.toString(36).padStart(5, '.')} `);
  return words.join('').slice(0, length);
}

const CHUNK: fc.Arbitrary<RawChunk> = fc.record({
  size: size(CHUNK_FORMS, 16),
  data: TEXT,
  end: mostly('\r\n', ['', '\n', '\r', '\r\r\n', ' \r\n', 'x\r\n', '\r\n\r\n', '\n\r'], 24),
});
const CHUNKED = {
  chunks: fc.array(CHUNK, { maxLength: 4 }),
  last: mostly('0\r\n\r\n', LASTS, 9),
};
const NONE = fc.constant<readonly never[]>([]);
const lengths = (least: number, most: number) => fc.array(size(LENGTH_FORMS), { minLength: least, maxLength: most });
const ODD_CODING = mostly('chunked', CODINGS, 1);
const weighted = (weight: number, parts: { [Part in keyof RawFraming]: fc.Arbitrary<RawFraming[Part]> }) => ({
  weight,
  arbitrary: fc.record(parts) as fc.Arbitrary<RawFraming>,
});

/**
 * A length, chunks or neither; sometimes an invalid framing: both, one of them twice, or a transfer coding that is
 * declared and not applied, or applied and not declared.
 */
export const FRAMING: fc.Arbitrary<RawFraming> = fc.oneof(
  CROSS,
  weighted(8, { lengths: fc.tuple(size(LENGTH_FORMS, 9)), codings: NONE }),
  weighted(8, { lengths: NONE, codings: fc.tuple(mostly('chunked', CODINGS)), ...CHUNKED }),
  weighted(3, { lengths: NONE, codings: NONE }),
  weighted(1, { lengths: lengths(2, 3), codings: NONE }),
  weighted(2, { lengths: lengths(0, 1), codings: fc.array(ODD_CODING, { minLength: 1, maxLength: 2 }), ...CHUNKED }),
  weighted(1, { lengths: lengths(0, 1), codings: fc.tuple(ODD_CODING) }),
  weighted(1, { lengths: lengths(0, 1), codings: NONE, ...CHUNKED }),
);
