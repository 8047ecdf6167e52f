/** A batch with a done list and checksums. It downloads the filings of the input `in` to `out`. */
export const MIRROR: readonly string[] = 'download -i in --all -d out --done done --checksums -q'.split(' ');
