import { type FileNameFault, fileNameFault } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';

const ACCESSION = '{accession_no}';
const FILE_NAME = '{file_name}';
const PLACEHOLDER = /(\{accession_no\}|\{file_name\})/;
/** Characters of a template; what it makes of a name has limits of its own. */
const LONGEST = 1000;

/** Where a file goes below the directory, or why its name can't be used there. */
export type Placed =
  | { readonly path: string; readonly fault?: never }
  | { readonly path?: never; readonly fault: FileNameFault };

/** `--layout`, read and checked. */
export interface Layout {
  readonly template: string;
  /** A relative path with slashes, each segment of which may touch the disk. */
  place(accession: string, fileName: string): Placed;
}

/** The layout when none is given. */
export function defaultLayout(withInput: boolean): Layout {
  return parseLayout(withInput ? `${ACCESSION}/${FILE_NAME}` : FILE_NAME);
}

/**
 * Reads a template: a relative path of `{accession_no}` and `{file_name}`, with text around
 * them, whose segments are names that every disk takes. Throws `usage`.
 */
export function parseLayout(template: string): Layout {
  const why = templateFault(template);
  if (why !== undefined) {
    const shown = template.length > 60 ? `${template.slice(0, 60)}…` : template;
    throw new FilingsError('usage', `--layout '${shown}': ${why}`, {
      hint: `such as ${ACCESSION}/${FILE_NAME} or ${ACCESSION}-${FILE_NAME}`,
    });
  }
  const parts = template.split(PLACEHOLDER);
  // Where a name is a whole segment, the rules for names are all there are.
  const isPlain = template.split('/').every((segment) => segment === FILE_NAME || !segment.includes(FILE_NAME));
  return {
    template,
    place(accession, fileName) {
      const fault = fileNameFault(fileName);
      if (fault !== undefined) return { fault };
      const path = filled(parts, accession, fileName);
      const broken = isPlain ? undefined : brokenSegment(path);
      return broken ? { fault: { reason: `as '${broken.segment}' of the layout, ${broken.reason}` } } : { path };
    },
  };
}

function templateFault(template: string): string | undefined {
  if (template === '') return 'it is empty';
  if (template.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  const text = template.replaceAll(ACCESSION, '').replaceAll(FILE_NAME, '');
  if (/[{}]/.test(text)) return `only ${ACCESSION} and ${FILE_NAME} may stand in braces`;
  if (!template.includes(FILE_NAME)) return `${FILE_NAME} is missing: all files of a filing would have one path`;
  if (/^([/\\]|[A-Za-z]:)/.test(template)) return 'it is an absolute path';
  const segments = template.split('/');
  if (segments.at(-1) === '') return 'it ends with a slash: the last part is the name of the file';
  if (segments.includes('')) return 'two slashes stand side by side';
  const broken = brokenSegment(filled(template.split(PLACEHOLDER), '0001234567-24-000001', 'a'));
  return broken && `its part '${broken.segment}': ${broken.reason}`;
}

/** All at once: a name may hold what looks like a placeholder. */
function filled(parts: readonly string[], accession: string, fileName: string): string {
  return parts.map((part) => (part === ACCESSION ? accession : part === FILE_NAME ? fileName : part)).join('');
}

function brokenSegment(path: string): { readonly segment: string; readonly reason: string } | undefined {
  for (const segment of path.split('/')) {
    const fault = fileNameFault(segment);
    if (fault) return { segment: segment.slice(0, 300), reason: fault.reason };
  }
  return undefined;
}
