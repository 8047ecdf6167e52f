import { type Sleep, sleep } from '../../src/abort.ts';
import { type Fields, head } from '../servers/answers.ts';
import {
  type ArchiveOptions,
  type Asked,
  accession,
  type Filings,
  type Instead,
  startArchive,
} from '../servers/archive.ts';
import { type RunOptions, workplace } from './run.ts';

/** A line of a report. Each file has one; each run ends with a summary. */
export interface ReportLine {
  readonly accession_no: string | null;
  readonly file_name: string | null;
  readonly path: string | null;
  readonly result: string;
  readonly bytes: number;
  readonly sha256?: string;
  readonly line?: number;
  readonly retry_at?: string;
  readonly error?: { readonly code: string; readonly exit_code: number; readonly message: string };
}

type Summary = Readonly<Record<string, number | string | null | undefined>>;

/** Reads a report. A line that is not JSON is ignored: a run that was killed leaves one. */
export function readReport(text: string | Buffer) {
  const read = `${text}`.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as ReportLine | { readonly summary: Summary }];
    } catch {
      return [];
    }
  });
  const last = read.at(-1);
  return {
    files: read.filter((line): line is ReportLine => 'result' in line),
    summaries: read.flatMap((line) => ('summary' in line ? [line.summary] : [])),
    /** True if the last line is a summary. */
    endsSummed: last !== undefined && 'summary' in last,
  };
}

/** A workplace that runs batches in this process and reads their report. */
export async function batchPlace(env: Readonly<Record<string, string>>, common: RunOptions = {}) {
  const place = await workplace();
  return {
    ...place,
    /**
     * Runs `download --input -` with these lines and `--report report`. Without lines, the arguments name the files.
     */
    async batch(lines: readonly string[] | string | undefined, args: readonly string[] = [], own: RunOptions = {}) {
      const input = typeof lines === 'object' ? lines.map((line) => `${line}\n`).join('') : lines;
      const line = ['download', ...(lines === undefined ? [] : ['--input', '-']), '--report', 'report', ...args];
      const ended = await place.filings(line, env, { ...common, ...own, ...(input !== undefined && { input }) });
      return { ...ended, report: readReport(await place.read('report').catch(() => '')) };
    },
  };
}

/** A workplace whose batches ask a service with these filings. */
export async function archivePlace(filings: Filings, options: ArchiveOptions = {}, common: RunOptions = {}) {
  const archive = await startArchive(filings, options);
  return { archive, ...(await batchPlace({ ...archive.env, ...common.env }, common)) };
}

/** Names of files of one filing, and the input lines for them. {@link numbered} serves these files. */
export const names = (count: number) => Array.from({ length: count }, (_, at) => `f${String(at).padStart(3, '0')}.htm`);
export const lines = (count: number) => names(count).map((name) => `${accession(1)} ${name}`);

/** A workplace with a service that has one filing of `count` files. */
export const numbered = (count: number, options: ArchiveOptions = {}, size = 20) =>
  archivePlace(
    { [accession(1)]: Object.fromEntries(names(count).map((name) => [name, Buffer.alloc(size, name)])) },
    options,
  );

/** Answers the requests for which `which` returns true with a status and without a body. */
export const answering =
  (status: number, which: (asked: Asked) => boolean = () => true, fields: Fields = {}): Instead =>
  (socket, asked) =>
    which(asked) && socket.write(head(status, { 'Content-Length': 0, ...fields }));

/** Ends the back-off before a first retry at once. It is between 1 and 1.5 s, and no other sleep is. */
export const quick: Sleep = (ms, signal) => sleep(ms >= 1000 && ms <= 1500 ? 0 : ms, signal);
