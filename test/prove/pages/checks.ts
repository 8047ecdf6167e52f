import { expect } from 'vitest';
import { parse } from 'yaml';
import type { Block } from './blocks.ts';
import { isShown, saidBy, scriptOf, stepsOf } from './console.ts';
import { readCrontab } from './crontab.ts';
import { ENDS_WITH } from './exceptions.ts';
import type { Home } from './home.ts';
import { strictly } from './shell-commands.ts';

type Check = (block: Block, home: Home) => Promise<void>;

/** What is done with a block, by the language that its fence names. */
export const CHECKS: Readonly<Record<string, Check>> = {
  sh: runScript,
  console: runConsole,
  crontab: runCrontab,
  json: checkJson,
  yaml: async ({ text }) => void parse(text, { strict: true, uniqueKeys: true }),
  // Its first line is a comment with the unit's name.
  systemd: async ({ text, firstLine }, home) => {
    const name = /^# (\S+\.(?:service|timer))$/.exec(firstLine)?.[1];
    if (!name) throw new Error('a systemd block begins with a comment that names the unit: # NAME.service');
    await ends(home, 'systemd-analyze verify "$UNIT"', { UNIT: await home.file(`units/${name}`, text, 0o644) });
  },
  sql: async ({ text }, home) => ends(home, 'sqlite3 -bail page.db < "$FILE"', { FILE: await home.file('.sql', text) }),
  jq: async ({ text }, home) => ends(home, 'jq -f "$FILE" < /dev/null', { FILE: await home.file('.jq', text) }),
  // For eyes alone.
  text: async () => {},
};

async function runScript({ page, firstLine, text }: Block, home: Home) {
  const { exitCode, stdout, stderr } = await home.bash(await strictly(text), ['-euo', 'pipefail']);
  expect(exitCode, `${stdout}${stderr}`).toBe(ENDS_WITH[page]?.[firstLine] ?? 0);
}

/** One that names a service is a config file, which the program takes. */
async function checkJson({ text }: Block, home: Home) {
  const value = JSON.parse(text);
  if (value?.baseUrl !== undefined)
    await ends(home, 'filings config list --config "$FILE"', { FILE: await home.file('block.json', text) });
}

async function runConsole({ text }: Block, home: Home) {
  const steps = stepsOf(text);
  const { stdout } = await home.bash(scriptOf(steps), ['-u']);
  const said = saidBy(stdout.toString());
  for (const [index, { command, shown }] of steps.entries()) {
    const output = said[index] ?? '';
    if (!isShown(shown, output)) expect(output, command).toBe(`${shown.join('\n')}\n`);
  }
}

/** Two nights: cron would send by mail whatever it heard. */
async function runCrontab({ text }: Block, home: Home) {
  for (const job of [...readCrontab(text), ...readCrontab(text)]) {
    const { exitCode, stdout, stderr } = await home.cron(job);
    expect(`${stdout}${stderr}`, job.command).toBe('');
    expect(exitCode, job.command).toBe(0);
  }
}

async function ends(home: Home, script: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { exitCode, stdout, stderr } = await home.bash(script, ['-eu'], env);
  expect(exitCode, `${stdout}${stderr}`).toBe(0);
}
