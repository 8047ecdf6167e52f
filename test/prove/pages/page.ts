// Runs the commands of a documentation page as a reader would, from the first block to the last.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Home, KEY, newHome } from './home.ts';

const INSTALLS = 'installs';

/** Blocks that no test runs unchanged, by their first line, with the reason. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm ci && node bin/filings.js --sandbox download 0001234567-24-000001 primary.htm': INSTALLS,
  'npm ci && npm test': INSTALLS,
  'npm ci && npm pack': INSTALLS,
  "sbatch docs/recipes/slurm/mirror.sbatch accessions.txt /shared/mirror --include 'ex*' --checksums --rate 2/s":
    'needs the engine: test/prove/recipes runs the script itself',
  "parallel -S n1,n2 --pipe -N500 --retries 3 --joblog joblog filings download -i - --include \"'ex*'\" -d /shared/mirror --done '/shared/{#}.done' < accessions.txt":
    'needs hosts that ssh reaches',
  'completionMode: Indexed': 'needs a cluster',
  'FROM node:22-slim': 'needs a builder of images',
};
/** Blocks that exit with another status than 0, because they show an error. */
const ENDS_WITH: Readonly<Record<string, number>> = {
  // The second command shows the error for a missing file.
  'filings download 0001234567-24-000001 primary.htm --report - --quiet | jq -r \'select(.result == "failed") | .error.code\'': 5,
};
/** Blocks that are run only once, by their first line, with the reason. */
const RUN_ONCE: Readonly<Record<string, string>> = {
  'filings token keygen --alg ES256 --out private.pem --public public.pem': 'a key is never overwritten',
};
/** The filings that the pages mention, as the input that they name. */
const ACCESSIONS = '0001234567-24-000001\n0001234567-24-000002\n';

interface Block {
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly firstLine: string;
}

/** The fenced code blocks of a page. */
export function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(import.meta.dirname, '../../..', page), 'utf8');
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].map(
    ({ index, 1: indent, 2: language = '', 3: inner = '' }) => ({
      line: text.slice(0, index).split('\n').length + 1,
      language,
      text: inner.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      firstLine: inner.trim().split('\n')[0] ?? '',
    }),
  );
}

/** The checks of a block, by the language of its fence. */
const CHECKS: Readonly<Record<string, (block: Block, home: Home) => Promise<void>>> = {
  // Each block runs twice, because a reader may repeat it.
  async sh({ text, firstLine }, home) {
    for (let time = 1; time <= (RUN_ONCE[firstLine] === undefined ? 2 : 1); time += 1) {
      const { exitCode, stdout, stderr } = await home.bash(text, ['-euo', 'pipefail']);
      expect(exitCode, `run ${time}: ${stdout}${stderr}`).toBe(ENDS_WITH[firstLine] ?? 0);
    }
  },
  // Commands after `$ ` with their output. In it, `...` matches any lines, and at the end of a line any text.
  async console({ text }, home) {
    const steps = text
      .split(/^\$ /m)
      .slice(1)
      .map((step) => step.trimEnd().split('\n'));
    const script = steps.map(([command]) => `{ :\n${command}\n} 2>&1\nprintf '\\x1e'\n`).join('');
    const outputs = (await home.bash(script, ['-u'])).stdout.toString().split('\x1e');
    for (const [index, [command, ...shown]] of steps.entries()) {
      const lines = shown.map((line) =>
        line === '...' ? '(.*\\n)*' : `${line.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/(\\\.){3}$/, '.*')}\\n`,
      );
      expect(outputs[index], command).toMatch(new RegExp(`^${lines.join('')}$`));
    }
  },
  // Each command runs twice, as in two nights. cron would mail any output.
  async crontab({ text }, home) {
    for (const job of [...cronJobs(text), ...cronJobs(text)]) {
      const { exitCode, stdout, stderr } = await home.cron(job);
      expect([exitCode, `${stdout}${stderr}`], job).toEqual([0, '']);
    }
  },
  // JSON with a baseUrl is a config file, which the program must accept.
  async json({ text }, home) {
    if (JSON.parse(text).baseUrl === undefined) return;
    const { exitCode, stderr } = await home.bash(
      `filings config list --config '${await home.file('block.json', text)}'`,
      [],
    );
    expect(exitCode, stderr).toBe(0);
  },
  yaml: async ({ text }) => void parse(text, { strict: true, uniqueKeys: true }),
};

/** The commands of a crontab as cron passes them to the shell (crontab(5)). */
export function cronJobs(text: string): readonly string[] {
  const jobs = text
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(#|MAILTO=|$)/.test(line));
  return jobs.map((line) => {
    const command = /^(?:[\d*,/-]+\s+){5}(\S.*)$/.exec(line)?.[1];
    if (command === undefined || /[^\\]%/.test(command)) throw new Error(`not five fields and a command: ${line}`);
    return command.replaceAll('\\%', '%');
  });
}

/** Runs the blocks of a page in order, as one user in one home. `env` has further variables of the user. */
export function testPage(
  page: string,
  env: Readonly<Record<string, string>> = {},
  isTested: (block: Block) => boolean = () => true,
): void {
  const blocks = blocksOf(page).filter((block) => NOT_RUN[block.firstLine] === undefined && isTested(block));
  let home: Home;
  beforeAll(async () => {
    home = await newHome(env);
    await home.file('accessions.txt', ACCESSIONS);
    await home.file('.filings-key', KEY);
  });
  afterAll(() => home.remove());

  test.for(blocks)('line $line works as written: $firstLine', async (block) => {
    const check = CHECKS[block.language];
    if (!check) throw new Error(`no check for a block of '${block.language}': see CHECKS`);
    await check(block, home);
  });

  test('the program still starts afterwards', async () => {
    expect(`${(await home.bash('filings --version', [])).stdout}`).toMatch(/^filings \d/);
  });
}

/** The first lines of exceptions that no page has. */
export function unusedExceptions(pages: readonly string[]): readonly string[] {
  const firstLines = new Set(pages.flatMap((page) => blocksOf(page).map(({ firstLine }) => firstLine)));
  return [NOT_RUN, ENDS_WITH, RUN_ONCE].flatMap(Object.keys).filter((line) => !firstLines.has(line));
}
