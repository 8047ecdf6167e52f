// Runs `token inspect`, which shows what a token says. The signature is not checked, so anyone could have made the
// token, and every output contains a warning about that.
import type { JsonObject } from '../../json.ts';
import { type Inspection, inspectToken } from '../../jwt/inspect.ts';
import { writeRecords } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { readTokenInput, reportRefusal } from './common.ts';
import type { INSPECT_OPTIONS } from './spec.ts';

const HEADINGS = ['PART', 'NAME', 'VALUE', 'MEANING'];
/** The warning in JSON output. */
const UNVERIFIED = { verified: false };

/**
 * Prints the header, the claims and the problems of a token. Returns 0. Throws `auth` if the token cannot be decoded.
 */
export async function run({ args, options, flags }: Invocation<typeof INSPECT_OPTIONS>, world: World): Promise<number> {
  const token = await readTokenInput(args[0], world);
  const inspection = inspectToken(token, { atSeconds: world.now() / 1000 });
  // Only a token that could not be decoded has a `failedCheck`. `reportRefusal` always throws.
  if ('failedCheck' in inspection)
    return reportRefusal(inspection, 'cannot be read', options.json && UNVERIFIED, world);
  if (options.json) await write(world.stdout, `${printableJson({ ...UNVERIFIED, ...inspection })}\n`, world.interrupt);
  else await writeRecords(HEADINGS, createRows(inspection), flags, world);
  return 0;
}

/** Returns the rows below HEADINGS. A row may have fewer cells than HEADINGS. */
function createRows({ header, claims, times, objections }: Inspection): string[][] {
  // What is wrong with the token apart from its signature. The JSON output calls it `objections`.
  const problems = objections.length > 0 ? objections.map((reason) => printable(reason)) : ['none found'];
  return [
    // A row and not a message on stderr, so that the warning is also in saved output.
    ['NOT VERIFIED', '', 'the signature was not checked: anyone could have made this token'],
    ...createMemberRows('header', header, {}),
    ...createMemberRows('claims', claims, times),
    ...problems.map((problem) => ['problem', '', problem]),
  ];
}

/**
 * Returns a row for each member. The value is JSON, so that a line break in it cannot imitate another row. `times`
 * explains the claims that are dates, and is empty for the header, which has none.
 */
function createMemberRows(part: string, members: JsonObject, times: Inspection['times']): string[][] {
  return Object.entries(members).map(([name, value]) => {
    // Without `hasOwn`, a claim named `constructor` would find the method of every object.
    const time = Object.hasOwn(times, name) ? times[name] : undefined;
    return [part, printable(name), printableJson(value), time === undefined ? '' : `${time.utc}, ${time.relative}`];
  });
}
