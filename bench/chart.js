// Draws bench/RESULTS.md as an SVG for docs/performance.md: each ratio to curl, aria2, wget2 or Node's least, with its
// spread and its bound, on a logarithmic axis. It follows the light or dark theme of the reader.

const PEERS = /against (Node's least|`?curl|`aria2c|`wget2|a shell loop)/;
const WIDTH = 720;
const LEFT = 20;
const RIGHT = 64;
const TOP = 58;
const ROW = 40;
/** The smallest and the largest ratio of the axis, unless a spread or a bound lies outside. */
const AXIS = [0.1, 2];
const TICKS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

const STYLE = `
  svg { --ink: #24292f; --faint: #d0d7de; --ours: #0969da; --bound: #bc4c00; background: #ffffff }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6edf3; --faint: #30363d; --ours: #58a6ff; --bound: #f0883e; background: #0d1117 }
  }
  text { font: 12px system-ui, sans-serif; fill: var(--ink) }
  .grid { stroke: var(--faint); stroke-width: 1 }
  .equal { stroke: var(--ink); stroke-width: 1 }
  .spread { stroke: var(--ours); stroke-width: 3; stroke-linecap: round; opacity: 0.45 }
  .median { fill: var(--ours) }
  .bound { stroke: var(--bound); stroke-width: 2 }`;

/** Returns the SVG of a page of results. */
export function chartOf(page) {
  const rows = page.split('\n').flatMap(readRow);
  const low = Math.min(AXIS[0], ...rows.map(({ least }) => least));
  const high = Math.max(AXIS[1], ...rows.flatMap(({ most, bound = 0 }) => [most, bound]));
  const x = (ratio) => (LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(ratio / low)) / Math.log(high / low)).toFixed(1);
  const bottom = TOP + rows.length * ROW;
  const title = 'Time of filings divided by the time of another program: less is better';
  const ticks = TICKS.filter((tick) => tick >= low && tick <= high).map(
    (tick) =>
      `<line class="${tick === 1 ? 'equal' : 'grid'}" x1="${x(tick)}" x2="${x(tick)}" y1="${TOP - 6}" y2="${bottom}"/>` +
      `<text x="${x(tick)}" y="${TOP - 12}" text-anchor="middle">${tick} x</text>`,
  );
  const drawn = rows.map(({ what, figure, least, most, bound }, at) => {
    const top = TOP + at * ROW;
    const y = top + 28;
    const mark = bound && `<line class="bound" x1="${x(bound)}" x2="${x(bound)}" y1="${y - 8}" y2="${y + 8}"/>`;
    return [
      `<text x="${LEFT}" y="${top + 14}">${what}</text>`,
      `<line class="spread" x1="${x(least)}" x2="${x(most)}" y1="${y}" y2="${y}"/>`,
      ...(mark ? [mark] : []),
      `<circle class="median" cx="${x(figure)}" cy="${y}" r="5"/>`,
      `<text x="${WIDTH - 12}" y="${y + 4}" text-anchor="end">${figure.toFixed(2)} x</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 28}" role="img" aria-label="${title}">
<style>${STYLE}
</style>
<text x="${LEFT}" y="20" font-weight="600">${title}</text>
${ticks.join('\n')}
${drawn.join('\n')}
<text x="${LEFT}" y="${bottom + 18}">Dot: median of the pairs. Bar: minimum and maximum. Upright mark: bound.</text>
</svg>
`;
}

/** Returns the row of a line of the table if it holds a ratio to one of the peers. */
function readRow(line) {
  const [, what = '', , , figure = '', spread = '', bound = ''] = line.split('|').map((cell) => cell.trim());
  const [least, most] = spread.split(' to ').map(Number);
  if (!PEERS.test(what) || !figure.endsWith(' x') || most === undefined) return [];
  const limit = bound === '' ? undefined : Number(bound.replace(/[^\d.]/g, ''));
  return [{ what: what.replaceAll('`', ''), figure: Number.parseFloat(figure), least, most, bound: limit }];
}
