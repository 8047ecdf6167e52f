import { locateConfig } from '../../settings/file/location.ts';
import { readConfig } from '../../settings/file/read.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';
import { stampOf } from './asker.ts';
import { linesOf } from './at-hand.ts';
import type { Line } from './line.ts';
import { isShowable } from './offered-names.ts';
import { readQuestion } from './question.ts';

/**
 * `filings completion --profiles SHELL -- WORD... BEGIN`: the profiles of the config file that the line of these words
 * means, those that begin so, one a line. Says nothing where there is none, or one that is not to be trusted.
 */
export function profiles(commands: readonly CommandSpec[]): CommandModule {
  return {
    async run({ args }, world) {
      const asked = readQuestion(args, commands, world);
      if (asked === undefined) return 0;
      const found = await profilesFor(asked.line, world).catch(() => []);
      const lines = found.filter((name) => isShowable(name) && name.startsWith(asked.begin));
      await write(world.stdout, linesOf(lines)).catch(() => {});
      return 0;
    },
  };
}

async function profilesFor({ flags }: Line, world: World): Promise<readonly string[]> {
  const { path } = locateConfig({ ...flags, profile: undefined }, world).location;
  // A pipe in its place would be read, and is somebody's.
  if (path === undefined || stampOf(path) === undefined) return [];
  const { profiles: found } = await readConfig(path, world);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? Object.keys(found) : [];
}
