import { takeTurn } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import { type ListedFile, whyNoMatch } from '../../service/listing/listing.ts';
import { listFiles } from '../../session/list-files.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { colors, usesColor } from '../../terminal/colors.ts';
import { fileList, type ListForm } from '../../terminal/file-list.ts';
import { terminalColumns } from '../../terminal/terminal-columns.ts';
import { StopRule } from '../../transfer/many/stop-rule.ts';
import { batchError } from '../../transfer/many/verdict.ts';
import { ahead } from '../../transfer/selection/ahead.ts';
import { openInput } from '../../transfer/selection/input.ts';
import { readBatches } from '../../transfer/selection/input-lines.ts';
import type { World } from '../../world.ts';
import { type ListRequest, readRequest } from './request.ts';
import type { OPTIONS } from './spec.ts';

/** A table is aligned over so many rows. */
const FILES_A_WRITE = 10_000;
const NAMES_A_TURN = 100;

/** `filings list`: the names of each filing's files, on stdout as the listings arrive. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const request = readRequest(args, options, world.argv);
  const session = await openSession(flags, world, {
    stdinUser: request.input === '-' ? '--input -' : undefined,
    writesStdout: true,
  });
  try {
    await listAll(request, session, world);
    return 0;
  } finally {
    await session.close();
  }
}

/** Lists filings, some at a time, and shows them in their order. Goes on after a failed one, but not after what would fail all the rest. */
async function listAll(request: ListRequest, session: Session, world: World): Promise<void> {
  const { progress, signal } = session;
  const show = shower(request, session, world);
  const stops = new StopRule('filings', session.client.again);
  let [listed, failed, onlyTemporary] = [0, 0, true];
  let stoppedBy: FilingsError | undefined;
  // Those that were asked for ahead end with the run.
  const stop = new AbortController();
  const within = { ...session, signal: AbortSignal.any([signal, stop.signal]) };
  const lines = linesOf(request, session, world);
  for await (const sought of ahead(
    lines,
    session.settings.jobs,
    (line) => find(line, request, within),
    within.signal,
  )) {
    const error = sought.found ? await show(sought.found) : sought.error;
    if (error && !request.several) throw error;
    stoppedBy = signal.aborted ? signal.reason : stops.after(error);
    if (!error) {
      listed += 1;
    } else if (!signal.aborted) {
      failed += 1;
      onlyTemporary &&= error.code === 'temporary';
      // What stops the run is told at its end.
      if (error !== stoppedBy) progress.failure(error);
    }
    if (stoppedBy) break;
  }
  stop.abort(stoppedBy);
  const files = listed + failed;
  const undone = request.input === undefined ? request.accessions.length - files : undefined;
  const verdict = batchError(
    { files, failed, onlyTemporary, stoppedBy, fromOutside: signal.aborted, undone },
    'filings',
  );
  if (verdict) throw verdict;
}

type Line = { readonly accession: AccessionNumber } | { readonly fault: FilingsError };

interface Filing {
  readonly accession: AccessionNumber;
  readonly files: readonly ListedFile[];
}

type Found = { found: Filing; error?: undefined } | { found?: undefined; error: FilingsError };

/** Asks for one filing's listing; its failure is no exception here. */
async function find(line: Line, { query }: ListRequest, session: Session): Promise<Found> {
  if ('fault' in line) return { error: line.fault };
  const { accession } = line;
  try {
    return { found: { accession, files: await listFiles(session, accession, { query, signal: session.signal }) } };
  } catch (error) {
    if (error instanceof FilingsError) return { error };
    throw error;
  }
}

/** Writes a filing's chosen files to stdout; gives back what is wrong with those that can't be. */
function shower(request: ListRequest, { settings, progress, signal }: Session, world: World) {
  const form = formOf(request, world);
  const { faint } = colors(usesColor(settings.color, world.stdout, world.env.TERM));
  let headings = true;
  let toldCut = false;
  return async ({ accession, files }: Filing): Promise<FilingsError | undefined> => {
    const chosen = await chosenOf(files, request, signal);
    if (chosen.length === 0) {
      tellNoMatch(accession, files.length, request, progress);
      return undefined;
    }
    const fit = chosen.filter((file) => fits(file, form));
    for (let from = 0; from < fit.length; from += FILES_A_WRITE) {
      const part = fit.slice(from, from + FILES_A_WRITE);
      // What a service lists is data, and exact: what was blacked out could not be asked for.
      const { text, cut } = await fileList(part, form, { headings, paintHeading: faint }, signal);
      await write(world.stdout, text, signal);
      headings = false;
      if (cut && !toldCut) progress.note('cut to the width of the terminal: --json shows all of it');
      toldCut ||= cut;
    }
    return fit.length < chosen.length ? unfitForNul(accession, chosen.length - fit.length) : undefined;
  };
}

/** Names can be many, and a pattern of one's own can take long over each. */
async function chosenOf(files: readonly ListedFile[], { chosen }: ListRequest, signal: AbortSignal) {
  const found: ListedFile[] = [];
  for (const [index, file] of files.entries()) {
    if (chosen(file.file_name)) found.push(file);
    if (index % NAMES_A_TURN === NAMES_A_TURN - 1) await takeTurn(signal);
  }
  return found;
}

/** The arguments, then the input; a filing that several lines in a row name is asked for once. */
async function* linesOf(
  { accessions, input }: ListRequest,
  { progress, signal }: Session,
  world: World,
): AsyncGenerator<Line> {
  const opened = input === undefined ? undefined : await openInput(input, world, signal);
  for (const accession of accessions) yield { accession };
  if (opened === undefined) return;
  if (input === '-' && world.stdin.isTTY) progress.note('reading accession numbers from stdin; end with Ctrl-D');
  let last: string | undefined;
  for await (const batch of readBatches(opened.bytes, (message) => progress.note(message))) {
    for (const line of batch) {
      if (line.kind === 'bad') yield { fault: atLine(line.number, line.fault) };
      else if (line.accession !== last) yield line;
      last = line.kind === 'entry' ? line.accession : undefined;
    }
  }
}

function atLine(number: number, { code, message, hint }: FilingsError): FilingsError {
  return new FilingsError(code, `line ${number}: ${message}`, hint === undefined ? {} : { hint });
}

/** Of a name with a NUL inside, a program that splits at NUL would make two; half a character would become another one. */
function fits({ file_name }: ListedFile, form: ListForm): boolean {
  return form.kind !== 'names' || !form.raw || !/[\0\p{Cs}]/u.test(file_name);
}

function unfitForNul(accession: AccessionNumber, count: number): FilingsError {
  const names = count === 1 ? 'a file name has' : `${count} file names have`;
  const what = 'a NUL or half a character inside';
  return new FilingsError('integrity', `${accession}: ${names} ${what}, and cannot be listed with -0`, {
    hint: 'list it with --json',
  });
}

function tellNoMatch(
  accession: AccessionNumber,
  files: number,
  { several }: ListRequest,
  progress: Session['progress'],
) {
  const reason = whyNoMatch(files);
  if (several) return progress.note(`${accession}: ${reason}`);
  throw new FilingsError('not_found', `${accession}: ${reason}`, {
    hint: files === 0 ? 'check the accession number' : 'check --include and --exclude: case counts',
  });
}

function formOf({ output, nul, several }: ListRequest, { stdout, env }: World): ListForm {
  const end = nul ? '\0' : '\n';
  if (output === 'json') return { kind: 'json', end };
  if (output === 'long' || (stdout.isTTY && !nul))
    return { kind: 'table', width: terminalColumns(stdout, env), accession: several };
  return { kind: 'names', end, raw: nul && !stdout.isTTY, accession: several };
}
