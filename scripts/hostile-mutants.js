import { withChanges } from './changed-sources.js';

/** Ways to break the program that the comparison with curl must find: a source, what stands there, what is put there. */
export const MUTANTS = Object.fromEntries(
  Object.entries({
    'any transfer coding is chunked': ['src/http/exchange/framing.ts', "=== 'chunked'", "!== ''"],
    'the first of two lengths counts': [
      'src/http/exchange/head-gate.ts',
      'if (this.#held === undefined) return chunk;',
      `if (this.#held === undefined) return chunk;
     const second = /(content-length:.*\\r\\n)((?:.+\\r\\n)*?)content-length:.*\\r\\n/i;
     chunk = Buffer.from(chunk.toString('latin1').replace(second, '$1$2'), 'latin1');`,
    ],
    'a truncated body is whole': [
      'src/http/exchange/conversation.ts',
      'this.#abandon(this.#settleHead ?',
      'if (!this.#settleHead) { this.#body.end(); } this.#abandon(this.#settleHead ?',
    ],
    'a reset is a clean end': [
      'src/http/exchange/conversation.ts',
      'if (!this.#reset && socket.remoteAddress !== undefined) return undefined;',
      'return undefined;',
    ],
    'a folded blank line ends the head': [
      'src/http/exchange/head-fault.ts',
      'head.slice(0, -EMPTY_LINE.length)',
      'head.trimEnd()',
    ],
    'line breaks may come first': ['src/http/exchange/head-gate.ts', 'if (this.#behindBody) bytes', 'bytes'],
    'NUL in the status line': ['src/http/exchange/head-fault.ts', 'if (CONTROL.test(statusLine))', 'if (false)'],
    'a 101 is passed on': ['src/http/exchange/head-fault.ts', "if (start.startsWith('101', STATUS_AT))", 'if (false)'],
    'a content coding is taken': ['src/service/unwelcome.ts', '/^(identity)?$/i', '/^(identity|gzip|br|x)?$/i'],
    // For --stories.
    'a part of another start is joined': ['src/transfer/resume.ts', 'if (start !== held.bytes)', 'if (false)'],
    'a part of another file is joined': [
      'src/transfer/resume.ts',
      'came.headers[validator.kind] === validator.value',
      'true',
    ],
    'a weak validator is strong': ['src/transfer/resume.ts', '/^"[', '/^(?:W\\/)?"['],
    'a date just now is strong': ['src/transfer/resume.ts', 'age >= STRONG_AFTER_MS', 'age >= 0'],
    // For both.
    'an error is a file': [
      'src/service/client.ts',
      'const welcome = answer.status === 200 ||',
      'const welcome = answer.status < 600 ||',
    ],
  }).map(([name, [file, from, to]]) => [name, { file, from, to }]),
);

/** For esbuild: breaks the program in one of these ways. Throws where there is none of that name, or nothing to break. */
export function mutating(name) {
  const mutant = MUTANTS[name];
  if (!mutant) throw new Error(`no mutant ${name}; there are: ${Object.keys(MUTANTS).join(', ')}`);
  return withChanges([mutant]);
}
