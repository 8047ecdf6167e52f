/** The kernel takes no more buffers in one call (IOV_MAX). */
const MOST_BUFFERS = 1024;

/** As many of the chunks, from the first on, as one call takes. */
export function forOneCall(chunks: readonly Buffer[]): readonly Buffer[] {
  return chunks.slice(0, MOST_BUFFERS);
}

/** What is left of the chunks behind the first `written` bytes: a write may stop short before it fails. */
export function behind(chunks: readonly Buffer[], written: number): readonly Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > written) return [chunk.subarray(written - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}
