/** A line of a crontab as cron reads it (crontab(5)). */
export interface CronJob {
  /** What the lines above it set, nothing expanded. */
  readonly env: Readonly<Record<string, string>>;
  /** What `SHELL -c` gets. */
  readonly command: string;
  /** What its stdin holds. */
  readonly input: string;
}

/** Names of months and days are not among those that the pages use. */
const FIELDS: readonly (readonly [name: string, least: number, most: number])[] = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day of month', 1, 31],
  ['month', 1, 12],
  ['day of week', 0, 7],
];
const NICKNAME = /^@(?:reboot|yearly|annually|monthly|weekly|daily|midnight|hourly)\s+(.+)$/;

/** The jobs of a user's crontab. Throws with the number of a line that cron would refuse. */
export function readCrontab(text: string): readonly CronJob[] {
  const jobs: CronJob[] = [];
  let env: Record<string, string> = {};
  if (!text.endsWith('\n')) throw new Error('the last line has no line break: cron refuses the file');
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const [, name = '', quote, quoted, plain] = /^(\w+)\s*=\s*(?:(["'])(.*)\2|(.*))$/.exec(trimmed) ?? [];
    if (name) env = { ...env, [name]: (quote ? quoted : plain) ?? '' };
    else jobs.push({ env, ...commandOf(trimmed, `line ${index + 1}`) });
  }
  return jobs;
}

function commandOf(line: string, where: string): Pick<CronJob, 'command' | 'input'> {
  const nicknamed = NICKNAME.exec(line)?.[1];
  if (nicknamed !== undefined) return divided(nicknamed);
  const parts = /^(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(.+)$/.exec(line);
  if (!parts) throw new Error(`${where}: not five fields and a command`);
  for (const [index, [name, least, most]] of FIELDS.entries()) {
    if (!isField(parts[index + 1] ?? '', least, most)) throw new Error(`${where}: ${name}: ${parts[index + 1]}`);
  }
  return divided(parts[6] ?? '');
}

function isField(text: string, least: number, most: number): boolean {
  return text.split(',').every((part) => {
    const [, from = '', to = from] = /^(\d+|\*)(?:-(\d+))?(?:\/[1-9]\d*)?$/.exec(part) ?? [];
    if (from === '*') return to === from;
    return from !== '' && Number(from) >= least && Number(to) <= most && Number(from) <= Number(to);
  });
}

/** A `%` ends the command, further ones break the lines of its stdin; `\%` is the character itself. */
function divided(text: string): Pick<CronJob, 'command' | 'input'> {
  const [command = '', ...lines] = text.split(/(?<!\\)%/).map((part) => part.replaceAll('\\%', '%'));
  return { command, input: lines.map((line) => `${line}\n`).join('') };
}
