const BY_NAME: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/^primary\.html?$/i, () => 'Primary document'],
  [/^FilingSummary\.xml$/i, () => 'XBRL filing summary'],
  [
    /^ex(?:hibit)?[ _-]?(\d{1,2})(?:[ ._-](\d{1,2}))?(?!\d)/i,
    ([, major, minor]) => `Exhibit ${major}${minor === undefined ? '' : `.${minor}`}`,
  ],
  [/^R(\d+)\.html?$/, ([, number]) => `XBRL report ${number}`],
  [/\.xsd$/i, () => 'XBRL taxonomy schema'],
];

/** What a file of a filing is, as far as the archive's naming habits tell. */
export function describe(fileName: string): string | undefined {
  for (const [pattern, text] of BY_NAME) {
    const match = pattern.exec(fileName);
    if (match) return text(match);
  }
  return undefined;
}
