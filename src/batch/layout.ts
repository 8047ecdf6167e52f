// The layout says where each file of a run goes below the directory. It is a template such as
// `{accession_no}/{file_name}`. A layout is accepted only if every file of every filing gets a path that is safe on
// disk.
import { type FileNameFault, fileNameFault } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

export const ACCESSION_NO = '{accession_no}';
export const FILE_NAME = '{file_name}';
const PLACEHOLDER = /(\{accession_no\}|\{file_name\})/;

type LayoutPath =
  | { readonly path: string; readonly fault?: never }
  | { readonly path?: never; readonly fault: FileNameFault };

export interface Layout {
  readonly template: string;
  /** Returns a relative path with slashes, each segment safe on disk, or why the name has none. */
  pathFor(accession: string, fileName: string): LayoutPath;
}

/** Returns the layout of a template: a relative path whose segments are valid names on every disk. Throws `usage`. */
export function parseLayout(template: string, platform: string): Layout {
  const parts = template.split(PLACEHOLDER);
  // A file name may contain the text of a placeholder, so the parts are replaced only once.
  const fill = (accession: string, fileName: string) =>
    parts.reduce((path, part) => path + (part === ACCESSION_NO ? accession : part === FILE_NAME ? fileName : part), '');
  const reason = findTemplateFault(template, fill('0001234567-24-000001', 'a'), platform);
  if (reason !== undefined) {
    throw new FilingsError('usage', reason, {
      subject: { name: `--layout '${shortened(template, 60)}'` },
      hint: `such as ${ACCESSION_NO}/${FILE_NAME} or ${ACCESSION_NO}-${FILE_NAME}`,
    });
  }
  // If the file name is a whole segment, the path is valid whenever the name is.
  const isPlain = template.split('/').every((segment) => segment === FILE_NAME || !segment.includes(FILE_NAME));
  return {
    template,
    pathFor(accession, fileName) {
      const path = fill(accession, fileName);
      const fault = fileNameFault(fileName, platform) ?? (isPlain ? undefined : findSegmentFault(path, platform));
      return fault ? { fault } : { path };
    },
  };
}

/** Returns why a template is invalid. `path` is the template filled with valid names. */
function findTemplateFault(template: string, path: string, platform: string): string | undefined {
  if (/[{}]/.test(path)) return `only ${ACCESSION_NO} and ${FILE_NAME} may be in braces`;
  if (!template.includes(FILE_NAME)) return `${FILE_NAME} is missing: all files of a filing would have one path`;
  if (/^([/\\]|[A-Za-z]:)/.test(template)) return 'it is an absolute path';
  return findSegmentFault(path, platform)?.reason;
}

function findSegmentFault(path: string, platform: string): FileNameFault | undefined {
  for (const segment of path.split('/')) {
    const fault = fileNameFault(segment, platform);
    if (fault) return { reason: `as '${shortened(segment, 60)}' of the layout, ${fault.reason}` };
  }
  return undefined;
}
