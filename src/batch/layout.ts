// The layout is a template, such as `{accession_no}/{file_name}`, for the path of each file below `--directory`. It is
// checked once, with sample values; the name of a file, which may be hostile, when its path is made.
import { type FileNameFault, fileNameFault } from '../disk/file-name.ts';
import { FilingsError } from '../errors.ts';
import { shortened } from '../text.ts';

export const ACCESSION_NO = '{accession_no}';
export const FILE_NAME = '{file_name}';

type LayoutPath =
  | { readonly path: string; readonly fault?: never }
  | { readonly path?: never; readonly fault: FileNameFault };

export interface Layout {
  readonly template: string;
  /** Returns a relative path with slashes whose segments are safe on disk, or the fault of the file name or path. */
  pathFor(accession: string, fileName: string): LayoutPath;
  /** Returns the deepest directory that all files of a filing share, or `.`. */
  directoryFor(accession: string): string;
  /** Whether that directory is for this filing alone. */
  readonly hasOwnDirectories: boolean;
}

/** Throws `usage` if the template is invalid. */
export function parseLayout(template: string, platform: string): Layout {
  // The file name is filled in last, because it may itself contain `{accession_no}`. It is returned by a function,
  // because `replaceAll` would interpret a `$` in a string.
  const fill = (accession: string, fileName: string) =>
    template.replaceAll(ACCESSION_NO, accession).replaceAll(FILE_NAME, () => fileName);
  const reason = findTemplateFault(template, fill('0001234567-24-000001', 'a'), platform);
  if (reason !== undefined) {
    throw new FilingsError('usage', reason, {
      subject: { name: `--layout '${template}'` },
      hint: `use a template such as ${ACCESSION_NO}/${FILE_NAME} or ${ACCESSION_NO}-${FILE_NAME}`,
    });
  }
  const segments = template.split('/');
  // A segment with the file name and more, as in `{accession_no}-{file_name}`, may be unsafe although the name is safe,
  // for example too long. The others were checked above: all accession numbers have the same length and characters.
  const isNameWholeSegment = segments.every((segment) => segment === FILE_NAME || !segment.includes(FILE_NAME));
  const directory =
    segments
      .slice(
        0,
        segments.findIndex((segment) => segment.includes(FILE_NAME)),
      )
      .join('/') || '.';
  return {
    template,
    directoryFor: (accession) => directory.replaceAll(ACCESSION_NO, accession),
    hasOwnDirectories: directory.includes(ACCESSION_NO),
    pathFor(accession, fileName) {
      const path = fill(accession, fileName);
      const fault =
        fileNameFault(fileName, platform) ?? (isNameWholeSegment ? undefined : findSegmentFault(path, platform));
      return fault ? { fault } : { path };
    },
  };
}

/** `path` is the template filled with valid values. Braces that are left in it were no placeholders. */
function findTemplateFault(template: string, path: string, platform: string): string | undefined {
  if (/[{}]/.test(path)) return `only ${ACCESSION_NO} and ${FILE_NAME} may be in braces`;
  if (!template.includes(FILE_NAME)) return `${FILE_NAME} is missing: all files of a filing would have one path`;
  if (/^([/\\]|[A-Za-z]:)/.test(template)) return 'it is an absolute path';
  return findSegmentFault(path, platform)?.reason;
}

function findSegmentFault(path: string, platform: string): FileNameFault | undefined {
  for (const segment of path.split('/')) {
    const fault = fileNameFault(segment, platform);
    if (fault) return { reason: `the segment '${shortened(segment, 300)}' of the path is refused: ${fault.reason}` };
  }
  return undefined;
}
