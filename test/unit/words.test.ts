import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// Texts of the program, comments and test titles must be understood at first reading. The lists below have the openings
// and phrases that readers had to decode.
const ROOT = join(import.meta.dirname, '../..');

const COMMENTED = 'bin src scripts bench test .ci/run vitest.config.ts';
const TITLED = 'test scripts/picture';

/** Phrases that must not be in texts of the program, in comments and in titles. */
const DECODED =
  /unless told|gone on with|leave it (away|out)|leave one of them out|\bborne\b|left undone|broken off|there already|exclude each other|for good|is wanted|stands twice|cannot stand in|passed over|goes with|has one user|in the way|tells no length|a part (of it )?came|counted anew/i;
/** Phrases that must not be in comments and in titles. */
const RIDDLE =
  /\b(nobody|whoever|anew|(is|are|was|were|be|been) (told|held against)|goes? on|stands? (there|as|in)|given up on|of one's own|had again|come of it|interface page|contract part|as the contract|what (is|was|has|had|it|they|came|comes|stands|exists|others))\b/i;
/** Words that cannot begin a comment or title, because a sentence begins with its subject or its verb. */
const OPENING =
  /^ ?(What|Whatever|Whoever|Those|So|Where|Wherever|Nor|Neither|But|Or|As|How|Of|By|Told|Asked|Held|Given|Shown|Said|Nobody|It|They|Behind|Beside|In turn|Unless|To be)\b/;
/** Sentences of pages, help and messages that readers had to read twice. */
const REREAD =
  /or the exit status says that it did not|cost the next run no|what may pass is|some disk takes for one|only the end of the connection|not by its place|none of the program's own|made for nobody|unknown is not known|holds the imports|goes with --/i;
/** A result in a title: only the name of a row may follow a colon. */
const RESULT = /: (?!.*[%$])|\bexit \d/;

function filesIn(paths: string): (readonly [path: string, code: string])[] {
  const names = paths.split(' ').flatMap((path) => {
    if (statSync(join(ROOT, path)).isFile()) return [path];
    const found = readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' });
    return found.filter((name) => /\.c?[jt]s$/.test(name)).map((name) => join(path, name));
  });
  return names.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]);
}

/** Comments that have lines of their own, each as one line. */
const commentsOf = (code: string) =>
  (code.match(/^[ \t]*(?:\/\*\*[\s\S]*?\*\/|(?:(?:\/\/|# ).*\n?[ \t]*)+)/gm) ?? []).map((comment) =>
    comment.replace(/^\s*(\/?\*+\/?|\/\/|#) ?|\s*\*\/$/gm, '').replace(/\s+/g, ' '),
  );
const titlesOf = (code: string) =>
  [...code.matchAll(/(?:\b(?:test|it|describe)|\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , title = '']) => title);

const unclear = (paths: string, textsOf: (code: string) => string[], ...rules: RegExp[]) =>
  filesIn(paths).flatMap(([path, code]) => {
    const found = textsOf(code).filter((text) => rules.some((rule) => rule.test(text)));
    return found.map((text) => `${path}: ${text}`);
  });

test('no text of the program has to be decoded', () => {
  const linesOf = (code: string) => code.replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '').split('\n');
  expect(unclear('src', linesOf, DECODED)).toEqual([]);
});

test('no comment has to be decoded', () => {
  expect(unclear(COMMENTED, commentsOf, OPENING, DECODED, RIDDLE)).toEqual([]);
});

test('no test title has to be decoded', () => {
  expect(unclear(TITLED, titlesOf, OPENING, DECODED, RIDDLE, RESULT)).toEqual([]);
});

test('no page has a sentence that had to be read twice', () => {
  const pages = readdirSync(ROOT).filter((name) => /^[A-Z]+\.md$/.test(name));
  const paths = [...pages, ...['docs', 'man', 'src'].flatMap((folder) => textsBelow(folder))];
  const found = paths.filter((path) => REREAD.test(readFileSync(join(ROOT, path), 'utf8').replace(/\s+/g, ' ')));
  expect(found).toEqual([]);
});

function textsBelow(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(md|ts|[15])$/.test(name)).map((name) => join(folder, name));
}
