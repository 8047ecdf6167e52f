import { FilingsError } from '../../errors.ts';
import { type JsonObject, membersOf } from '../../json/value.ts';
import { type Inspection, inspectToken } from '../../jwt/token/inspect.ts';
import { isFromStdin, readTokenInput } from '../../jwt/token/token-input.ts';
import { stdinUsersGiven } from '../../settings/stdin-users.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { requireOneUser } from '../../stdio/one-user.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { tokenOnStdin } from './common.ts';
import type { INSPECT_OPTIONS } from './spec.ts';

/** Shows what a token says, and what the service would object to. */
export async function run({ args, options, flags }: Invocation<typeof INSPECT_OPTIONS>, world: World): Promise<number> {
  const fromStdin = isFromStdin(args[0]) && tokenOnStdin(args[0]);
  requireOneUser('stdin', [fromStdin, ...stdinUsersGiven(flags, world.env)]);
  const token = await readTokenInput(args[0], world);
  const inspection = inspectToken(token, { atSeconds: world.now() / 1000 });
  if ('failedCheck' in inspection) {
    const { failedCheck, reason, hint } = inspection;
    const verdict = { verified: false, failed_check: failedCheck, reason, ...(hint !== undefined && { hint }) };
    if (options.json) await write(world.stdout, `${printableJson(verdict)}\n`, world.interrupt);
    const details = hint === undefined ? {} : { hint };
    throw new FilingsError('auth', `the token can't be read (${failedCheck}): ${reason}`, details);
  }
  const text = options.json ? `${printableJson(asJson(inspection))}\n` : asText(inspection);
  await write(world.stdout, text, world.interrupt);
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

function asText({ header, claims, times, objections }: Inspection): string {
  const refused =
    objections.length === 0
      ? ['the service would object to nothing, if the signature is right']
      : ['the service would object:', ...objections.map(({ reason }) => `  ${printable(reason)}`)];
  return [
    'NOT VERIFIED: this is what the token says, whoever made it',
    'header',
    ...memberLines(header),
    'claims',
    ...memberLines(claims, (name) => {
      const time = times.find(({ claim }) => claim === name);
      return time === undefined ? '' : `  ${time.utc}, ${time.relative}`;
    }),
    ...refused,
    '',
  ].join('\n');
}

/** A member a line, its value as JSON, so that none can pass for another line. */
function memberLines(members: JsonObject, comment: (name: string) => string = () => ''): string[] {
  return membersOf(members).map(([name, value]) => `  ${printable(name)}: ${printableJson(value)}${comment(name)}`);
}
