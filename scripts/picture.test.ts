// Draws docs/picture.svg for the README (npm run picture), or checks that a terminal still shows it (npm run prove). The
// built program runs in a shell on a terminal, by the keys that a person presses. Only its clock and the pace of the
// service are set. Each frame of the picture was on the screen, in this order.
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { IBufferCell, Terminal } from '@xterm/headless';
import { expect, test } from 'vitest';
import { ACCESSION, BIN, HELD_CLOCK, NODE, until } from '../test/cli/program.ts';
import { CTRL_C, screen } from '../test/cli/screen/screen.ts';
import { head, rangeStart } from '../test/servers/answers.ts';
import { startArchive } from '../test/servers/archive.ts';

const FILE = 'xbrl-data.zip';
const SIZE = 120_000_000;
const COMMAND = `filings download ${ACCESSION} ${FILE}`;
const UP = '\x1b[A';
const STORY = [
  `$ ${COMMAND}`,
  `${FILE}: stopped at 72 MB; run the same command to resume`,
  'filings: interrupted: SIGINT',
  '$ ls',
  `$ ${COMMAND}`,
  `${FILE}: 120 MB, resumed at 72 MB`,
  '$ ls',
  FILE,
  '$',
];
const TITLE = 'Ctrl-C interrupts a download and leaves no half file, and the same command resumes it';
const [COLUMNS, ROWS] = [80, STORY.length];
/** Durations of frames, in milliseconds. */
const [KEY_MS, BAR_MS, PAUSE_MS, READ_MS] = [230, 260, 900, 1800];
/** Readers of the README wait for the picture first, so it must be small. */
const MAX_BYTES = 60_000;

/** Adjacent cells of a row with the same style. */
interface Run {
  readonly row: number;
  readonly column: number;
  readonly style: string;
  text: string;
}

interface Frame {
  readonly runs: readonly Run[];
  readonly ms: number;
}

/** A service with one file, which sends as much of it as the story says. */
async function startPaced() {
  let [to, sent] = [undefined as Socket | undefined, 0];
  const { env } = await startArchive(
    {},
    {
      instead(socket, { request }) {
        [to, sent] = [socket, rangeStart(request) ?? 0];
        const range = sent > 0 && { 'Content-Range': `bytes ${sent}-${SIZE - 1}/${SIZE}` };
        socket.write(head(sent > 0 ? 206 : 200, { 'Content-Length': SIZE - sent, ETag: '"v1"', ...range }));
        return true;
      },
    },
  );
  const sendUpTo = (percent: number) => {
    to?.write(Buffer.alloc(Math.max(0, (SIZE / 100) * percent - sent)));
    sent = (SIZE / 100) * percent;
  };
  return { env, sendUpTo };
}

/** Next to the working directory: the program as `filings`, and a clock that moves only by the test. */
const ENV = { PATH: `../bin:${process.env.PATH}`, NODE_OPTIONS: '--require ../hook.cjs' };
async function prepare(path: string): Promise<void> {
  await writeFile(join(path, '../hook.cjs'), HELD_CLOCK);
  await mkdir(join(path, '../bin'));
  await writeFile(join(path, '../bin/filings'), `#!/bin/sh\nexec '${NODE}' '${BIN}' "$@"\n`, { mode: 0o755 });
}

test('docs/picture.svg shows what a terminal shows', async () => {
  const service = await startPaced();
  const at = await screen([], {
    script: "PS1='$ ' exec bash --norc --noprofile -i",
    size: { columns: COLUMNS, rows: ROWS },
    prepare,
    env: { ...service.env, ...ENV, INPUTRC: '/dev/null', LC_ALL: 'C.UTF-8' },
  });
  const frames: Frame[] = [];
  const take = (ms: number) => void frames.push({ runs: runsOf(at.terminal), ms });
  const shows = (last: string) => until(() => at.lines().at(-1) === last);
  const prompted = () => until(() => at.lines().at(-1) === '$' && at.cursor() === 2);
  const types = async (command: string) => {
    await prompted();
    take(PAUSE_MS);
    let typed = '$';
    for (const word of command.split(' ')) {
      at.type(typed === '$' ? word : ` ${word}`);
      typed += ` ${word}`;
      await shows(typed);
      take(KEY_MS);
    }
    at.type('\r');
  };
  /** Transfers up to a percentage, and waits until the program has drawn it twice alike, so that the line is complete. */
  const transfers = async (from: number, upTo: number) => {
    for (let percent = from; percent <= upTo; percent += 5) {
      // Half a second passes.
      if (percent > from) await appendFile(join(at.path, '../clock'), '.'.repeat(5));
      service.sendUpTo(percent);
      for (let before = ''; ; before = at.lines().at(-1) ?? '') {
        const bytes = at.bytes().length;
        await until(() => at.bytes().length > bytes);
        const now = at.lines().at(-1) ?? '';
        if (now === before && now.includes(` ${percent}% `)) break;
      }
      take(BAR_MS);
    }
  };

  await types(COMMAND);
  await transfers(0, 60);
  take(READ_MS);
  at.type(CTRL_C);
  await types('ls');
  await prompted();
  take(READ_MS);
  at.type(UP.repeat(2));
  await shows(`$ ${COMMAND}`);
  take(PAUSE_MS);
  at.type('\r');
  await transfers(60, 95);
  service.sendUpTo(100);
  await types('ls');
  await prompted();
  take(READ_MS * 3);

  expect(at.lines()).toEqual(STORY);
  const svg = svgOf(frames);
  expect(svg.length).toBeLessThan(MAX_BYTES);
  await expect(svg).toMatchFileSnapshot('../docs/picture.svg');
});

function runsOf({ buffer: { active } }: Terminal): readonly Run[] {
  const runs: Run[] = [];
  for (let row = 0; row < ROWS; row += 1) {
    const line = active.getLine(active.baseY + row);
    for (let column = 0; column < COLUMNS; column += 1) {
      const cell = line?.getCell(column);
      if (cell === undefined) continue;
      const [style, last] = [styleOf(cell), runs.at(-1)];
      if (last?.row === row && last.style === style) last.text += cell.getChars() || ' ';
      else runs.push({ row, column, style, text: cell.getChars() || ' ' });
    }
  }
  return runs.filter(({ text }) => text.trim() !== '');
}

/** The classes of a cell. Throws for a color that the picture lacks. */
function styleOf(cell: IBufferCell): string {
  const color = cell.isFgDefault() ? '' : { 1: 'red', 2: 'green', 6: 'cyan' }[cell.getFgColor()];
  if (color === undefined) throw new Error(`the picture has no color ${cell.getFgColor()}`);
  return [color, cell.isBold() && 'bold', cell.isDim() && 'faint'].filter(Boolean).join(' ');
}

/** Sizes in units of the picture. A column is as wide as a letter of most monospaced fonts of this size. */
const [COLUMN, ROW, BASELINE, FONT, MARGIN] = [8.4, 20, 14.5, 14, 18];
const FONTS = `ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace`;
const STYLE = `
.w{fill:#fbfbfa;stroke:#d4d4d0}
text{font:${FONT}px ${FONTS};fill:#24292f;white-space:pre}
.red{fill:#b3261e}.green{fill:#1a7f37}.cyan{fill:#0b7285}.bold{font-weight:bold}.faint{opacity:.65}
@media (prefers-color-scheme:dark){
.w{fill:#16191d;stroke:#3a4048}
text{fill:#d9dde3}
.red{fill:#ff8f86}.green{fill:#7ddc92}.cyan{fill:#6fd3e0}
}`;

/** An animated SVG: a strip of frames jumps behind a window. Viewers without motion see the last frame. */
function svgOf(frames: readonly Frame[]): string {
  const [width, height] = [Math.round(COLUMNS * COLUMN) + 2 * MARGIN, ROWS * ROW];
  const whole = frames.reduce((sum, { ms }) => sum + ms, 0);
  let passed = 0;
  const jumps = frames.map(({ ms }, at) => {
    const percent = round((passed * 100) / whole);
    passed += ms;
    return `${percent}%{transform:translateY(${-at * height}px)}`;
  });
  const strip = frames.map(({ runs }, at) => {
    const texts = runs.map(({ row, column, style, text }) => {
      const trimmed = text.trimEnd();
      const place = `x="${round(column * COLUMN)}" y="${row * ROW + BASELINE}" textLength="${round(trimmed.length * COLUMN)}"`;
      return `<text${style && ` class="${style}"`} ${place}>${escaped(trimmed)}</text>`;
    });
    return `<g transform="translate(0 ${at * height})">${texts.join('')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + 2 * MARGIN}" width="${width}" role="img" aria-labelledby="t d" xml:space="preserve">
<title id="t">${TITLE}</title>
<desc id="d">${escaped(STORY.join('\n'))}</desc>
<style>${STYLE}
@media (prefers-reduced-motion:no-preference){.f{animation:f ${whole}ms step-end infinite}
@keyframes f{${jumps.join('')}}}</style>
<rect class="w" x=".5" y=".5" width="${width - 1}" height="${height + 2 * MARGIN - 1}" rx="8"/>
<svg x="${MARGIN}" y="${MARGIN}" width="${width - 2 * MARGIN}" height="${height}" overflow="hidden">
<g class="f" transform="translate(0 ${-(frames.length - 1) * height})">
${strip.join('\n')}
</g>
</svg>
</svg>
`;
}

const round = (number: number) => Math.round(number * 100) / 100;

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
