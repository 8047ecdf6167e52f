import type { Run, Shot } from './shot.ts';

/** A frame of the film. */
export interface Frame {
  readonly shot: Shot;
  readonly ms: number;
  /** Keys that are pressed during the frame. The picture shows them as a keycap. */
  readonly pressed?: string | undefined;
}

export interface Film {
  readonly title: string;
  /** Text alternative of the picture. */
  readonly description: string;
  readonly columns: number;
  readonly rows: number;
  readonly frames: readonly Frame[];
  /** Index of the frame that is shown without animation. */
  readonly resting: number;
}

/** Size of a cell, in units of the picture. A column is as wide as a letter of most monospaced fonts at this size. */
const [COLUMN, ROW, BASELINE, FONT] = [8.4, 20, 14.5, 14];
const [MARGIN, BAR] = [18, 34];
/** Time for which the last frame is shown first, because some viewers show only the first moment. */
const BEFORE_MS = 1200;

const STYLE = `
.w{fill:#fbfbfa;stroke:#d4d4d0}
.d{fill:#d4d4d0}
text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:#24292f;white-space:pre}
.red{fill:#b3261e}
.green{fill:#1a7f37}
.cyan{fill:#0b7285}
.bold{font-weight:bold}
.faint{opacity:.65}
.c{fill:#8a8f98}
.k{fill:#24292f}
.k+text{fill:#fbfbfa}
@media (prefers-color-scheme:dark){
.w{fill:#16191d;stroke:#3a4048}
.d{fill:#3a4048}
text{fill:#d9dde3}
.red{fill:#ff8f86}
.green{fill:#7ddc92}
.cyan{fill:#6fd3e0}
.k{fill:#d9dde3}
.k+text{fill:#16191d}
}
`;

/** An animated SVG. A strip of frames jumps behind a window from one frame to the next. */
export function svgOf({ title, description, columns, rows, frames, resting }: Film): string {
  const [width, height] = [columns * COLUMN, rows * ROW];
  const [outerWidth, outerHeight] = [width + 2 * MARGIN, height + BAR + MARGIN];
  const strip = frames.map(
    (frame, index) => `<g transform="translate(0 ${index * height})">${drawn(frame, columns, rows)}</g>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(outerWidth)} ${outerHeight}" width="${round(outerWidth)}" height="${outerHeight}" role="img" aria-labelledby="t d" xml:space="preserve">`,
    `<title id="t">${escaped(title)}</title>`,
    `<desc id="d">${escaped(description)}</desc>`,
    `<style>${STYLE}@media (prefers-reduced-motion:no-preference){${motion(frames, height)}}</style>`,
    `<rect class="w" x=".5" y=".5" width="${round(outerWidth - 1)}" height="${outerHeight - 1}" rx="8"/>`,
    ...[0, 1, 2].map((dot) => `<circle class="d" cx="${MARGIN + 2 + dot * 16}" cy="17" r="5"/>`),
    `<svg x="${MARGIN}" y="${BAR}" width="${round(width)}" height="${height}" overflow="hidden">`,
    `<g class="f" transform="translate(0 ${-resting * height})">`,
    ...strip,
    '</g>',
    '</svg>',
    '</svg>',
  ].join('\n')}\n`;
}

/** The jumps of the strip as CSS, in percent of the total time. */
function motion(frames: readonly Frame[], height: number): string {
  const whole = frames.reduce((sum, { ms }) => sum + ms, BEFORE_MS);
  const at = (ms: number, index: number) => `${round((ms * 100) / whole)}%{transform:translateY(${-index * height}px)}`;
  const steps = [at(0, frames.length - 1)];
  let ms = BEFORE_MS;
  for (const [index, frame] of frames.entries()) {
    steps.push(at(ms, index));
    ms += frame.ms;
  }
  steps.push(at(whole, frames.length - 1));
  return `.f{animation:f ${whole}ms step-end infinite}\n@keyframes f{${steps.join('')}}`;
}

function drawn({ shot, pressed }: Frame, columns: number, rows: number): string {
  const { cursor } = shot;
  const block = cursor
    ? `<rect class="c" x="${round(cursor.column * COLUMN)}" y="${cursor.row * ROW + 2}" width="${COLUMN}" height="${ROW - 4}"/>`
    : '';
  const text = shot.rows.flatMap((runs, row) => runs.map((run) => textOf(run, row)));
  return block + text.join('') + (pressed === undefined ? '' : cap(pressed, columns, rows));
}

/** The text is stretched to its columns, because letters of another font may have other widths. */
function textOf({ column, text, styles }: Run, row: number): string {
  const style = styles.length > 0 ? ` class="${styles.join(' ')}"` : '';
  return `<text${style}${place(column * COLUMN, row * ROW + BASELINE, text)}>${escaped(text)}</text>`;
}

function cap(keys: string, columns: number, rows: number): string {
  const width = (keys.length + 2) * COLUMN;
  const [x, y] = [columns * COLUMN - width, (rows - 1) * ROW - 6];
  const rect = `<rect class="k" x="${round(x)}" y="${y}" width="${round(width)}" height="${ROW + 6}" rx="5"/>`;
  return `${rect}<text class="bold"${place(x + COLUMN, y + BASELINE + 3, keys)}>${escaped(keys)}</text>`;
}

function place(x: number, y: number, { length }: string): string {
  return ` x="${round(x)}" y="${y}" textLength="${round(length * COLUMN)}" lengthAdjust="spacingAndGlyphs"`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
