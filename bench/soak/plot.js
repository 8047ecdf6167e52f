// Draws samples as an SVG: memory above, descriptors below, over minutes. It follows the light or dark theme of the
// reader.

const WIDTH = 720;
const LEFT = 56;
const RIGHT = 12;
const PANEL = 150;
const GAP = 46;
const TOP = 34;

const STYLE = `
  svg { --ink: #24292f; --faint: #d0d7de; --memory: #0969da; --files: #bc4c00; --warm: #eaeef2; background: #ffffff }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --faint: #30363d; --memory: #58a6ff; --files: #f0883e; --warm: #1c2128; background: #0d1117 }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--ink) }
  .grid { stroke: var(--faint); stroke-width: 1 }
  .warm { fill: var(--warm) }
  .line { fill: none; stroke-width: 1.5; stroke-linejoin: round }`;

/** The SVG of the samples of a run. */
export function plot(samples, title) {
  const end = samples.at(-1).at / 60;
  const panels = [
    { name: 'resident memory, MB', color: 'memory', values: samples.map(({ rss }) => rss / 1e6) },
    { name: 'open descriptors', color: 'files', values: samples.map(({ descriptors }) => descriptors) },
  ];
  const height = TOP + panels.length * (PANEL + GAP);
  const drawn = panels.map((panel, at) => drawPanel(panel, { top: TOP + at * (PANEL + GAP) + 14, end, samples }));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
<style>${STYLE}
</style>
<text x="${LEFT}" y="18" font-weight="600">${title}</text>
${drawn.join('\n')}
</svg>
`;
}

function drawPanel({ name, color, values }, { top, end, samples }) {
  const most = niceAbove(Math.max(...values));
  const x = (minutes) => (LEFT + (minutes / end) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (value) => (top + PANEL - (value / most) * PANEL).toFixed(1);
  const steps = [0, most / 2, most].map(
    (value) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>` +
      `<text x="${LEFT - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${Number(value.toFixed(2))}</text>`,
  );
  const every = niceAbove(end / 8);
  const ticks = Array.from({ length: Math.floor(end / every + 1e-9) + 1 }, (_, at) => at * every).map(
    (minutes) =>
      `<text x="${x(minutes)}" y="${top + PANEL + 16}" text-anchor="middle">${Number(minutes.toFixed(2))} min</text>`,
  );
  const points = values.map((value, at) => `${x(samples[at].at / 60)},${y(value)}`).join(' ');
  return [
    `<rect class="warm" x="${LEFT}" y="${top}" width="${((WIDTH - LEFT - RIGHT) / 6).toFixed(1)}" height="${PANEL}"/>`,
    ...steps,
    ...ticks,
    `<text x="${LEFT}" y="${top - 6}">${name}</text>`,
    `<polyline class="line" style="stroke: var(--${color})" points="${points}"/>`,
  ].join('\n');
}

/** The next value of 1, 2, 4, 5, 6, 8 or 10 times a power of ten. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 4, 5, 6, 8, 10].find((step) => step * power >= value);
}
