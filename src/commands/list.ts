import { FilingsError } from '../errors.ts';
import { type AccessionNumber, parseAccession } from '../service/accession.ts';
import type { ListedFile } from '../service/listing.ts';
import { openSession, type Session } from '../session.ts';
import { resolveSettings } from '../settings/resolve.ts';
import { requireOneUser, stdinUsers } from '../settings/stdin.ts';
import { colors, usesColor } from '../terminal/colors.ts';
import { fileList, type ListForm, type ListLook } from '../terminal/file-list.ts';
import { write } from '../terminal/output.ts';
import { redacted } from '../terminal/redacted.ts';
import { Failures } from '../transfer/failures.ts';
import { readInputLines } from '../transfer/input-lines.ts';
import { openInput } from '../transfer/input-source.ts';
import { nameFilter } from '../transfer/selection.ts';
import type { World } from '../world.ts';
import type { Invocation } from './invocation.ts';

/** The arguments and options of `filings list`, read and checked. */
interface ListRequest {
  readonly accessions: readonly AccessionNumber[];
  readonly input: string | undefined;
  /** More than one filing may be asked for: each line names its own, and one without a match is no failure. */
  readonly several: boolean;
  readonly chosen: (name: string) => boolean;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly output: 'json' | 'long' | 'names';
  readonly nul: boolean;
}

/** `filings list`: the names of each filing's files, on stdout as the listings arrive. */
export async function run({ args, options, flags }: Invocation, world: World): Promise<number> {
  const request = readRequest(args, options);
  if (request.input === '-') {
    const { settings } = await resolveSettings(flags, world);
    requireOneUser('stdin', ['--input -', ...stdinUsers(settings)]);
  }
  const session = await openSession(flags, world);
  try {
    await listAll(request, session, world);
    return 0;
  } finally {
    await session.close();
  }
}

function readRequest(args: Invocation['args'], options: Invocation['options']): ListRequest {
  const texts = (name: string) => (options[name] ?? []) as readonly string[];
  const input = options.input as string | undefined;
  if (args.length === 0 && input === undefined) {
    throw new FilingsError('usage', 'list: no ACCESSION', {
      hint: 'name a filing: filings list 0001234567-24-000001; or take them from a file: --input FILE',
    });
  }
  if (options.long && (options.json || options.null)) {
    throw new FilingsError('usage', `--long and ${options.json ? '--json' : '--null'} exclude each other`);
  }
  return {
    accessions: args.map(parseAccession),
    input,
    several: args.length > 1 || input !== undefined,
    chosen: nameFilter(texts('include'), texts('exclude')),
    query: texts('query').map(readParameter),
    output: options.json ? 'json' : options.long ? 'long' : 'names',
    nul: options.null === true,
  };
}

function readParameter(text: string): readonly [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new FilingsError('usage', '--query: the value is not NAME=VALUE', {
      hint: 'such as --query page_size=200',
    });
  }
  if (name === 'accession_no') {
    throw new FilingsError('usage', '--query: accession_no is sent already', {
      hint: 'name the filing as an argument',
    });
  }
  return [name, value];
}

/** Lists one filing after the other. Goes on after a failed one, but not after what would fail all the rest. */
async function listAll(request: ListRequest, { client, settings, progress, signal }: Session, world: World) {
  const form = formOf(request, world.stdout);
  const { faint } = colors(usesColor(settings.color, world.stdout, world.env.TERM));
  const failures = new Failures(progress.failure);
  let headings = true;
  for await (const line of linesOf(request, world, signal)) {
    try {
      if (line.kind === 'bad') throw line.fault;
      const files = await client.listFiles(line.accession, request.query, signal);
      const chosen = files.filter((file) => request.chosen(file.file_name));
      failures.none();
      if (chosen.length === 0) tellNoMatch(line.accession, files.length, request, progress);
      else await write(world.stdout, listed(chosen, form, { headings, paintHeading: faint }, world), signal);
      headings &&= chosen.length === 0;
    } catch (error) {
      if (!request.several || !(error instanceof FilingsError)) throw error;
      failures.take(error);
    }
  }
  failures.conclude();
}

/** The arguments, then the input; a filing named on several lines in a row is asked for once. */
async function* linesOf({ accessions, input }: ListRequest, world: World, signal: AbortSignal) {
  const stream = input === undefined ? undefined : await openInput(input, world, signal);
  for (const accession of accessions) yield { kind: 'entry', accession } as const;
  if (stream === undefined) return;
  let last: string | undefined;
  for await (const line of readInputLines(stream)) {
    if (line.kind === 'bad') yield { kind: 'bad', fault: atLine(line.number, line.fault) } as const;
    else if (line.accession !== last) yield line;
    last = line.kind === 'entry' ? line.accession : undefined;
  }
}

function atLine(number: number, { code, message, hint }: FilingsError): FilingsError {
  return new FilingsError(code, `line ${number}: ${message}`, hint === undefined ? {} : { hint });
}

function tellNoMatch(
  accession: AccessionNumber,
  files: number,
  { several }: ListRequest,
  progress: Session['progress'],
) {
  const reason = files === 0 ? 'the service lists no files' : `none of its ${files} files is chosen`;
  if (several) return progress.note(`${accession}: ${reason}`);
  throw new FilingsError('not_found', `${accession}: ${reason}`, {
    hint: files === 0 ? 'check the accession number' : 'check --include and --exclude: case counts',
  });
}

function formOf({ output, nul, several }: ListRequest, stdout: World['stdout']): ListForm {
  const end = nul ? '\0' : '\n';
  if (output === 'json') return { kind: 'json', end };
  if (output === 'long' || (stdout.isTTY && !nul))
    return { kind: 'table', width: stdout.columns || undefined, accession: several };
  return { kind: 'names', end, raw: nul && !stdout.isTTY, accession: several };
}

/** A service may echo a secret in what it lists, too. */
function listed(files: readonly ListedFile[], form: ListForm, look: ListLook, { secrets }: World): string {
  const clear = files.map(({ accession_no, file_name, ...others }) => ({
    accession_no,
    file_name: secrets.redact(file_name),
    ...(redacted(others, secrets) as object),
  }));
  return fileList(clear, form, look);
}
