import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ACCESSION, serviceAt, until } from '../cli/program.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { scripted } from '../servers/scripted.ts';
import { shellHome, terminalOf } from './shells.ts';

/** Names that a shell must not expand. Each is the only file of a filing. */
const NAMES = [
  `it's a "b".htm`,
  '$HOME`id`.htm',
  'back\\slash*?.htm',
  '(p)&q;<r>|.htm',
  '!bang#{x,y}[z]%.htm',
  '#lead=c:d@e.htm',
  '~root dé ünï.htm',
];

/** A service whose filings have these files. */
function listings(filings: Readonly<Record<string, readonly string[]>>) {
  const listed = Object.entries(filings).map(([number, names]) => [
    number,
    Object.fromEntries(names.map((name) => [name, ''])),
  ]);
  return startArchive(Object.fromEntries(listed));
}

describe.each(['bash', 'zsh', 'fish'] as const)('%s', (shell) => {
  test('completes the names of a filing from the service, each as one word that means it', async () => {
    const server = await listings(Object.fromEntries(NAMES.map((name, at) => [accession(at), [name]])));
    const terminal = await terminalOf(shell, await shellHome(), serviceAt(server.url));
    for (const [at, name] of NAMES.entries()) {
      await terminal.completes(`filings download ${accession(at)} `, '.htm', name);
    }
    // On a slow machine a completion may time out and be requested again, so that only distinct paths are counted.
    expect(new Set(server.requests.map(({ path }) => path)).size).toBe(NAMES.length);
  });

  test.for`
    begin     | name
    ${'a='}   | ${'a=b.htm'}
    ${'c:'}   | ${'c:d.htm'}
    ${'a\\ '} | ${'a b.htm'}
    ${"'a "}  | ${'a b.htm'}
  `('completes a name that begins $begin', async ({ begin, name }: { begin: string; name: string }) => {
    const server = await listings({ [ACCESSION]: ['a b.htm', 'a=b.htm', 'c:d.htm', 'z.htm'] });
    const terminal = await terminalOf(shell, await shellHome(), serviceAt(server.url));
    await terminal.completes(`filings download ${ACCESSION} ${begin}`, '.htm', name);
  });

  test.for`
    line                       | rest        | word
    ${'--col'}                 | ${'or'}     | ${'--color'}
    ${'--color=al'}            | ${'ways'}   | ${'--color=always'}
    ${'config set color al'}   | ${'ways'}   | ${'always'}
    ${'help token ins'}        | ${'pect'}   | ${'inspect'}
    ${'list --profile wo'}     | ${'me'}     | ${'work at:ho$me'}
    ${'list --input li'}       | ${'st.txt'} | ${'list.txt'}
    ${'list --input=li'}       | ${'st.txt'} | ${'--input=list.txt'}
    ${'list --input ~/bin/fi'} | ${'lings'}  | ${'~/bin/filings'}
    ${'verify a\\ fo'}         | ${'lder'}   | ${'a folder/'}
  `(
    'completes $line as one word that means it',
    async ({ line, rest, word }: Record<'line' | 'rest' | 'word', string>) => {
      const place = await shellHome();
      await place.write('list.txt', '');
      await mkdir(place.at('a folder'));
      await place.config({ profiles: { 'work at:ho$me': {} } });
      const terminal = await terminalOf(shell, place);
      // zsh takes the slash behind a directory away again.
      const got = shell === 'zsh' ? word.replace(/\/$/, '') : word;
      await terminal.completes(`filings ${line}`, rest, got.replace('~', place.home));
    },
  );

  test('shows values, which have no descriptions, alone', async () => {
    const terminal = await terminalOf(shell, await shellHome());
    const from = terminal.seen().length;
    terminal.type('filings config set color \t');
    await terminal.shows('never', from);
    expect(terminal.seen().slice(from)).not.toContain(' -- ');
  });

  test('completion ends silently when the service does not respond, and at once after Ctrl-C', async () => {
    const server = await scripted(() => {});
    const terminal = await terminalOf(shell, await shellHome(), serviceAt(server.url));
    const from = terminal.seen().length;
    terminal.type(`filings download ${ACCESSION} \t`);
    await until(() => server.requests.length > 0);
    // Keys that are typed meanwhile wait for the shell.
    terminal.type('mine.htm\r');
    await terminal.shows('GOT<mine.htm>', from);
    const again = terminal.seen().length;
    const before = server.requests.length;
    terminal.type(`filings download ${ACCESSION} \t`);
    await until(() => server.requests.length > before);
    terminal.type('\u0003');
    terminal.type('\r');
    await terminal.shows('READY> ', again);
    // zsh has a word of its own for a completion that was given up.
    const said = terminal
      .seen()
      .slice(from)
      .replace(/Killed by signal in _filings/g, '');
    expect(said).not.toMatch(/[Kk]illed|SIG|Forced|hint|error/);
  });
});
