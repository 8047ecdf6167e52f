/** A batch that keeps all its books but the report: the filings of `in` go to `out`. */
export const MIRROR: readonly string[] = 'download -i in --all -d out --done done --checksums -q'.split(' ');
