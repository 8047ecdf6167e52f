import { type ArchiveOptions, accession, type Filings, startArchive } from '../servers/archive.ts';
import { type Given, workplace } from './run.ts';

/** What a report holds: a line a file, and its runs' summaries. */
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

/** Reads a report; a line that is no JSON is passed over, as of a run that was killed while it wrote. */
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
    /** The last line is a summary. */
    endsSummed: last !== undefined && 'summary' in last,
  };
}

/** A place in which batches run in this process, with lines for their input and a report that is read back. */
export async function batchPlace(env: Readonly<Record<string, string>>, common: Given = {}) {
  const place = await workplace();
  return {
    ...place,
    /** `download --input -` of these lines, with `--report report`; without lines the arguments name what is to be fetched. */
    async batch(lines: readonly string[] | string | undefined, args: readonly string[] = [], given: Given = {}) {
      const input = typeof lines === 'object' ? lines.map((line) => `${line}\n`).join('') : lines;
      const line = ['download', ...(lines === undefined ? [] : ['--input', '-']), '--report', 'report', ...args];
      const ended = await place.filings(line, env, { ...common, ...given, ...(input !== undefined && { input }) });
      return { ...ended, report: readReport(await place.read('report').catch(() => '')) };
    },
  };
}

/** A place beside a service with these filings, which its batches ask. */
export async function archivePlace(filings: Filings, options: ArchiveOptions = {}, common: Given = {}) {
  const archive = await startArchive(filings, options);
  return { archive, ...(await batchPlace({ ...archive.env, ...common.env }, common)) };
}

/** Names of files, and lines of an input that ask for them, of the filing that {@link numbered} has them in. */
export const names = (count: number) => Array.from({ length: count }, (_, at) => `f${String(at).padStart(3, '0')}.htm`);
export const lines = (count: number) => names(count).map((name) => `${accession(1)} ${name}`);

/** A place beside a service with one filing of so many files. */
export const numbered = (count: number, options: ArchiveOptions = {}, size = 20) =>
  archivePlace(
    { [accession(1)]: Object.fromEntries(names(count).map((name) => [name, Buffer.alloc(size, name)])) },
    options,
  );
