import type { JsonObject } from '../../json.ts';
import { type Inspection, inspectToken } from '../../jwt/inspect.ts';
import { writeRecords } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { readTokenInput, refuseToken } from './common.ts';
import type { INSPECT_OPTIONS } from './spec.ts';

const HEADINGS = ['PART', 'NAME', 'VALUE', 'MEANING'];

/** Prints header and claims of a token. Returns 0. Throws `auth` if the token cannot be read. */
export async function run({ args, options, flags }: Invocation<typeof INSPECT_OPTIONS>, world: World): Promise<number> {
  const token = await readTokenInput(args[0], world);
  const inspection = inspectToken(token, { atSeconds: world.now() / 1000 });
  const about = { verified: false };
  if ('failedCheck' in inspection) return refuseToken(inspection, 'cannot be read', options.json && about, world);
  if (options.json) await write(world.stdout, `${printableJson({ ...about, ...inspection })}\n`, world.interrupt);
  else await writeRecords(HEADINGS, rowsOf(inspection), flags, world);
  return 0;
}

function rowsOf({ header, claims, times, objections }: Inspection): string[][] {
  const verdicts = objections.map((reason) => `the service would object: ${printable(reason)}`);
  if (verdicts.length === 0) verdicts.push('no problem found (signature not checked)');
  return [
    ['NOT VERIFIED', '', 'this is what the token says, whoever made it'],
    ...memberRows('header', header, {}),
    ...memberRows('claims', claims, times),
    ...verdicts.map((text) => ['service', '', text]),
  ];
}

/** Returns a row for each member. The value is JSON, so that a line break in it cannot imitate another row. */
function memberRows(part: string, members: JsonObject, times: Inspection['times']): string[][] {
  return Object.entries(members).map(([name, value]) => {
    const time = Object.hasOwn(times, name) ? times[name] : undefined;
    return [part, printable(name), printableJson(value), time === undefined ? '' : `${time.utc}, ${time.relative}`];
  });
}
