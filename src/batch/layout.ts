import { type FileNameFault, fileNameFault } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

export const ACCESSION_NO = '{accession_no}';
export const FILE_NAME = '{file_name}';
/** For files of several filings. */
export const DEFAULT_LAYOUT = `${ACCESSION_NO}/${FILE_NAME}`;
const PLACEHOLDER = /(\{accession_no\}|\{file_name\})/;

type Placed =
  | { readonly path: string; readonly fault?: never }
  | { readonly path?: never; readonly fault: FileNameFault };

export interface Layout {
  readonly template: string;
  /** With slashes; each segment may touch the disk. */
  place(accession: string, fileName: string): Placed;
}

export function defaultLayout(withInput: boolean, platform: string): Layout {
  return parseLayout(withInput ? DEFAULT_LAYOUT : FILE_NAME, platform);
}

/** A relative path, each segment a name that every disk takes. Throws `usage`. */
export function parseLayout(template: string, platform: string): Layout {
  const parts = template.split(PLACEHOLDER);
  // A name may hold what looks like a placeholder.
  const filled = (accession: string, fileName: string) =>
    parts.map((part) => (part === ACCESSION_NO ? accession : part === FILE_NAME ? fileName : part)).join('');
  const why = templateFault(template, filled('0001234567-24-000001', 'a'), platform);
  if (why !== undefined) {
    throw new FilingsError('usage', why, {
      subject: { name: `--layout '${shortened(template, 60)}'` },
      hint: `such as ${ACCESSION_NO}/${FILE_NAME} or ${ACCESSION_NO}-${FILE_NAME}`,
    });
  }
  // Where a name is a whole segment, the rules for names are all there are.
  const isPlain = template.split('/').every((segment) => segment === FILE_NAME || !segment.includes(FILE_NAME));
  return {
    template,
    place(accession, fileName) {
      const path = filled(accession, fileName);
      const fault = fileNameFault(fileName, platform) ?? (isPlain ? undefined : brokenSegment(path, platform));
      return fault ? { fault } : { path };
    },
  };
}

/** `path`: of a name that every disk takes. */
function templateFault(template: string, path: string, platform: string): string | undefined {
  if (/[{}]/.test(path)) return `only ${ACCESSION_NO} and ${FILE_NAME} may be in braces`;
  if (!template.includes(FILE_NAME)) return `${FILE_NAME} is missing: all files of a filing would have one path`;
  if (/^([/\\]|[A-Za-z]:)/.test(template)) return 'it is an absolute path';
  return brokenSegment(path, platform)?.reason;
}

function brokenSegment(path: string, platform: string): FileNameFault | undefined {
  for (const segment of path.split('/')) {
    const fault = fileNameFault(segment, platform);
    if (fault) return { reason: `as '${shortened(segment, 60)}' of the layout, ${fault.reason}` };
  }
  return undefined;
}
