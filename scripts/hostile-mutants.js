import { withChanges } from './changed-sources.js';

/** Defects that the comparison with curl must find: a source file, a text in it, and its replacement. */
export const MUTANTS = Object.fromEntries(
  Object.entries({
    'any transfer coding is chunked': ['src/http/head.ts', "=== 'chunked'", "!== ''"],
    'a truncated body is whole': ['src/http/request.ts', 'this.#body.end(error);', 'this.#body.end();'],
    'NUL in the status line': ['src/http/head.ts', 'if (CONTROL.test(', 'if (/^$/.test('],
    'any beginning will do': [
      'src/http/head.ts',
      'if (status === undefined) return { fault: NO_HTTP, rest }',
      'if (status === undefined) return { isFinal: true, rest }',
    ],
    'a content coding is taken': ['src/service/client.ts', '(identity)?', '(identity|gzip|br|x)?'],
    // These are for --stories.
    'a part of another start is joined': ['src/transfer/resume.ts', 'start === partial.bytes &&', ''],
    'a part of another file is joined': [
      'src/transfer/resume.ts',
      'response.headers[validator.kind] === validator.value',
      'true',
    ],
    'a weak validator is strong': ['src/transfer/resume.ts', '/^"[', '/^(?:W\\/)?"['],
    'a date just now is strong': ['src/transfer/resume.ts', 'age >= MIN_STRONG_AGE_MS', 'age >= 0'],
    // This one is for both searches.
    'an error is a file': ['src/service/client.ts', 'response.status === 200 || (', 'response.status < 600 || ('],
  }).map(([name, [file, from, to]]) => [name, { file, from, to }]),
);

/** An esbuild plugin that applies the mutant. Throws if the mutant does not exist or changes nothing. */
export function mutating(name) {
  const mutant = MUTANTS[name];
  if (!mutant) throw new Error(`no mutant ${name}; there are: ${Object.keys(MUTANTS).join(', ')}`);
  return withChanges([mutant]);
}
