// The signature is not checked, so anyone could have made the token, and every output says so.
import { FilingsError } from '../../errors.ts';
import { splitMembers } from '../../json.ts';
import { type Inspection, inspectToken } from '../../jwt/inspect.ts';
import { writeRecords } from '../../session/presentation.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { readTokenInput } from './inputs.ts';
import { printableParts, reportRefusal } from './results.ts';
import type { INSPECT_OPTIONS } from './spec.ts';

const HEADINGS = ['PART', 'NAME', 'VALUE', 'MEANING'];

export async function run({ args, options, flags }: Invocation<typeof INSPECT_OPTIONS>, world: World): Promise<number> {
  const token = await readTokenInput(args[0], world);
  let inspection: Inspection;
  try {
    inspection = inspectToken(token, { atSeconds: world.now() / 1000 });
  } catch (error) {
    const subject = { name: 'the token cannot be read (format)' };
    const unreadable = error instanceof FilingsError ? error.with({ subject }) : error;
    return reportRefusal(unreadable, options.json && { verified: false }, world);
  }
  const parts = printableParts(token);
  const json = `{"verified":false,"header":${parts.header},"claims":${parts.claims},${printableJson(inspection).slice(1)}`;
  if (options.json) await write(world.stdout, `${json}\n`, world.interrupt);
  else await writeRecords(HEADINGS, createRows(parts, inspection), flags, world);
  return 0;
}

function createRows(
  { header, claims }: ReturnType<typeof printableParts>,
  { times, objections }: Inspection,
): string[][] {
  const problems = objections.length > 0 ? objections.map((reason) => printable(reason)) : ['none found'];
  return [
    // A row and not a message on stderr, so that the warning is also in saved output.
    ['NOT VERIFIED', '', 'the signature was not checked: anyone could have made this token'],
    ...createMemberRows('header', header, {}),
    ...createMemberRows('claims', claims, times),
    ...problems.map((problem) => ['problem', '', problem]),
  ];
}

/** The value is JSON, so that a line break in it cannot imitate another row. */
function createMemberRows(part: string, json: string, times: Inspection['times']): string[][] {
  return splitMembers(json).map(([name, value]) => {
    // A claim named `constructor` would find the method of every object.
    const time = Object.hasOwn(times, name) ? times[name] : undefined;
    return [part, printable(name), value, time === undefined ? '' : `${time.utc}, ${time.relative}`];
  });
}
