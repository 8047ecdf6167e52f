/** Why nothing of a filing is chosen, of whose listing so many files are known. */
export function whyNoMatch(files: number): string {
  if (files === 0) return 'the service lists no files';
  return files === 1 ? 'its one file is not chosen' : `none of its ${files} files is chosen`;
}
