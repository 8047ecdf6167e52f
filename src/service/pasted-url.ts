import { type AccessionNumber, accessionIn, accessionsIn } from './accession.ts';

/** What was written in the place of an accession number. */
export interface Pasted {
  readonly accession: AccessionNumber;
  /** The file's own name, where it names one; a filing's index is none. */
  readonly fileName?: string;
}

/** What a pasted URL, or `ACCESSION/FILE`, names, when it holds one accession number and nothing else could be meant. */
export function pasted(text: string): Pasted | undefined {
  if (text.length > 2000) return undefined;
  const [, number = '', name] = /^([0-9-]{18,20})\/+(.*)$/s.exec(text) ?? [];
  const accession = accessionIn(number);
  if (accession !== undefined) return { accession, ...(name && { fileName: name }) };
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? pastedUrl(new URL(text)) : undefined;
}

function pastedUrl({ pathname, search, searchParams }: URL): Pasted | undefined {
  const [accession, ...others] = new Set(accessionsIn(`${pathname}${search}`));
  if (accession === undefined || others.length > 0) return undefined;
  const name = decoded(pathname.split('/').at(-1) ?? '');
  const isFile = /[^.]\.[a-z\d]+$/i.test(name) && !/-index(-headers)?\.html?$/i.test(name);
  const fileName = searchParams.get('file_name') ?? (isFile ? name : undefined);
  return { accession, ...(fileName && { fileName }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
