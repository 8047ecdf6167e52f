/** What is left of the chunks behind the first `written` bytes: a write may stop short before it fails. */
export function behind(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
