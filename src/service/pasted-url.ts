import { type AccessionNumber, accessionsIn } from './accession.ts';

/** What the address of an archive's page names. */
export interface PastedUrl {
  readonly accession: AccessionNumber;
  /** The page's own name, where it is a file of the filing; its index is none. */
  readonly fileName?: string;
}

/** What a pasted URL names, when it holds one accession number, with dashes or without, and nothing else could be meant. */
export function pastedUrl(text: string): PastedUrl | undefined {
  if (text.length > 2000 || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { pathname, search } = new URL(text);
  const [accession, ...others] = new Set(accessionsIn(`${pathname}${search}`));
  if (accession === undefined || others.length > 0) return undefined;
  const name = decoded(pathname.split('/').at(-1) ?? '');
  const isFile = /[^.]\.[a-z\d]+$/i.test(name) && !/-index(-headers)?\.html?$/i.test(name);
  const fileName = new URL(text).searchParams.get('file_name') ?? (isFile ? name : undefined);
  return { accession, ...(fileName && { fileName }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
