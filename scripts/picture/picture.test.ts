import { expect, test } from 'vitest';
import { ACCESSION } from '../../test/cli/program.ts';
import { startClock } from '../../test/cli/screen/clock.ts';
import { screen } from '../../test/cli/screen/screen.ts';
import { startPaced } from './paced.ts';
import { Recording, type Step } from './recording.ts';
import { svgOf } from './svg.ts';

// Draws the picture of README, or compares it with docs/picture.svg: npm run picture, npm run picture -- --check. Every
// frame was on a terminal in this order. The built program runs in a shell, by the keys that a person presses. Only the
// clock and the pace of the service are set.

const FILE = 'xbrl-data.zip';
const SIZE = 120_000_000;
const COMMAND = `filings download ${ACCESSION} ${FILE}`;

const FIRST_RUN: readonly Step[] = [
  [4, 0.5],
  [9, 1],
  [15, 1.5],
  [21, 2],
  [27, 2.5],
  [33, 3],
  [39, 3.5],
  [44, 4],
  [49, 4.5],
  [54, 5],
  [60, 5.5],
];
const SECOND_RUN: readonly Step[] = [
  [65, 0.5],
  [71, 1],
  [77, 1.5],
  [83, 2],
  [89, 2.5],
  [95, 3],
];

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
const TITLE = 'A download that Ctrl-C interrupts leaves no half file, and the same command resumes it';
const SIZE_OF_SCREEN = { columns: 80, rows: STORY.length };
/** Readers of README wait for the picture first, so it must be small. */
const MAX_BYTES = 60_000;

test('docs/picture.svg shows what a terminal shows', async () => {
  const service = await startPaced(SIZE);
  const clock = await startClock();
  const at = await screen([], {
    script: "PS1='$ ' exec bash --norc --noprofile -i",
    size: SIZE_OF_SCREEN,
    env: { ...service.env, ...clock.env, INPUTRC: '/dev/null', LC_ALL: 'C.UTF-8' },
  });
  const recording = new Recording(at, clock, service);
  await recording.types(COMMAND);
  recording.enters();
  await recording.transfers(0, FIRST_RUN);
  await recording.interrupts();
  await recording.types('ls');
  recording.enters();
  await recording.recalls(COMMAND, 2);
  recording.enters();
  await recording.transfers(60, SECOND_RUN);
  const resting = recording.frames.length - 1;
  await recording.completes();
  await recording.types('ls');
  recording.enters();
  await recording.ends();

  expect(at.lines()).toEqual(STORY);
  const { frames } = recording;
  const svg = svgOf({ title: TITLE, description: STORY.join('\n'), ...SIZE_OF_SCREEN, frames, resting });
  expect(svg.length).toBeLessThan(MAX_BYTES);
  await expect(svg).toMatchFileSnapshot('../../docs/picture.svg');
});
