import { FilingsError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { type Inspection, inspectToken } from '../../jwt/inspect.ts';
import { writeRecords } from '../../session/records.ts';
import { stdinUsersGiven } from '../../settings/credentials.ts';
import type { Flags, Invocation } from '../../spec/invocation.ts';
import { requireOneUser } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Column } from '../../terminal/table.ts';
import type { World } from '../../world.ts';
import { isFromStdin, readTokenInput, tokenOnStdin } from './common.ts';
import type { INSPECT_OPTIONS } from './spec.ts';

const NOT_VERIFIED = 'NOT VERIFIED';
const MARK = 'this is what the token says, whoever made it';

const COLUMNS: readonly Column[] = [
  { heading: 'PART', name: true },
  { heading: 'NAME', name: true, least: 8 },
  { heading: 'VALUE', name: true, least: 12 },
  { heading: 'MEANING', least: 12 },
];

/** Shows what a token says, and what the service would object to. */
export async function run({ args, options, flags }: Invocation<typeof INSPECT_OPTIONS>, world: World): Promise<number> {
  const fromStdin = isFromStdin(args[0]) && tokenOnStdin(args[0]);
  requireOneUser('stdin', [fromStdin, ...stdinUsersGiven(flags, world.env)]);
  const token = await readTokenInput(args[0], world);
  const inspection = inspectToken(token, { atSeconds: world.now() / 1000 });
  if ('failedCheck' in inspection) {
    const { failedCheck: failed_check, reason } = inspection;
    const verdict = { verified: false, failed_check, reason };
    if (options.json) await write(world.stdout, `${printableJson(verdict)}\n`, world.interrupt);
    throw new FilingsError('auth', `the token can't be read (${failed_check}): ${reason}`);
  }
  if (options.json) await write(world.stdout, `${printableJson(asJson(inspection))}\n`, world.interrupt);
  else await show(inspection, flags, world);
  return 0;
}

function asJson({ header, claims, times, objections }: Inspection) {
  return {
    verified: false,
    header,
    claims,
    times: Object.fromEntries(times.map(({ claim, utc, relative }) => [claim, { utc, relative }])),
    objections: objections.map(({ reason }) => reason),
  };
}

async function show({ header, claims, times, objections }: Inspection, flags: Flags, world: World): Promise<void> {
  const reasons = objections.map(({ reason }) => `the service would object: ${printable(reason)}`);
  if (reasons.length === 0) reasons.push('no problem found (signature not checked)');
  const rows = [
    [NOT_VERIFIED, '', MARK],
    ...memberRows('header', header),
    ...memberRows('claims', claims, (name) => {
      const time = times.find(({ claim }) => claim === name);
      return time === undefined ? '' : `${time.utc}, ${time.relative}`;
    }),
    ...reasons.map((text) => ['service', '', text]),
  ];
  await writeRecords({ columns: COLUMNS, rows }, flags, world);
}

/** A member a row, its value as JSON, so that none can pass for another row. */
function memberRows(part: string, members: JsonObject, meaning: (name: string) => string = () => '') {
  return Object.entries(members).map(([name, value]) => [part, printable(name), printableJson(value), meaning(name)]);
}
