import type { FilingsError } from '../errors.ts';
import { printableJson } from '../terminal/printable.ts';
import type { Outcome, Wanted } from '../transfer/outcome.ts';

/** An error as a report shows it: without a secret. */
export type ErrorOf = (error: FilingsError) => object;

/** What most names and paths are: JSON takes them as they are. */
const PLAIN = /^[\w ./+-]*$/;

/** A report line, version 1 (interface page): one JSON object a file. `time` is RFC 3339, UTC. */
export function reportLine(outcome: Outcome, time: string, errorOf: ErrorOf): string {
  const { wanted, path, result, bytes, sha256, etag, verifiedLength, attempts, ms, error } = outcome;
  const rest = [
    sha256 === undefined ? '' : `,"sha256":"${sha256}"`,
    etag === undefined ? '' : `,"etag":${printableJson(etag)}`,
    `,"verified_length":${verifiedLength},"attempts":${attempts},"ms":${Math.round(ms)}`,
    error ? failure(error, errorOf) : '',
  ].join('');
  const place = `"path":${path === null ? null : json(path)},"result":"${result}","bytes":${bytes}`;
  return `{"v":1,"time":"${time}","accession_no":"${wanted.accession}","file_name":${json(wanted.fileName)},${place}${rest}}`;
}

/** The report line of what failed without being a file: a listing, or a line of the input. */
export function failureLine(
  of: { readonly accession?: string; readonly line?: number },
  error: FilingsError,
  time: string,
  errorOf: ErrorOf,
): string {
  const line = of.line === undefined ? '' : `,"line":${of.line}`;
  const place = `"accession_no":${printableJson(of.accession ?? null)},"file_name":null${line},"path":null`;
  const rest = '"result":"failed","bytes":0,"verified_length":false,"attempts":0,"ms":0';
  return `{"v":1,"time":"${time}",${place},${rest}${failure(error, errorOf)}}`;
}

function failure(error: FilingsError, errorOf: ErrorOf): string {
  const retryAt = error.retryAt === undefined ? '' : `,"retry_at":"${new Date(error.retryAt).toISOString()}"`;
  return `${retryAt},"error":${printableJson(errorOf(error))}`;
}

function json(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : printableJson(text);
}

/** A line of `--failed`: as text where the name comes back as it is, otherwise as an object. */
export function failedLine({ accession, fileName }: Wanted): string {
  const plain = /^[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}\u2028\u2029]*[^\s\p{Cc}\p{Cs}])?$/u.test(fileName);
  return plain ? `${accession} ${fileName}` : JSON.stringify({ accession_no: accession, file_name: fileName });
}
