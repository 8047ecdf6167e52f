import { expect } from 'vitest';

/** Bytes of the smaller text. Work whose time grows with their square takes seconds, not minutes. */
const BYTES = 1 << 16;

/**
 * Expects that twice the text takes hardly more than twice the time. Processor time is measured, because others use the
 * machine. A measurement may still be disturbed, so one good of three is enough.
 */
export function expectLinear(piece: string, work: (text: string) => unknown): void {
  const measure = (bytes: number) => {
    const text = piece.repeat(bytes / piece.length);
    const before = process.cpuUsage();
    work(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const growths: string[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const [half, whole] = [measure(BYTES), measure(2 * BYTES)];
    if (whole < 3 * half + 20) return;
    growths.push(`${half} ms, then ${whole} ms`);
  }
  expect(growths).toEqual([]);
}
