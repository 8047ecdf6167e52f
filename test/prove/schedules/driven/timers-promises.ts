// node:timers/promises over the globals, which are the schedule's.
export const setTimeout = (ms: number): Promise<void> =>
  new Promise((resolve) => void globalThis.setTimeout(resolve, ms));
export const setImmediate = (): Promise<void> => new Promise((resolve) => void globalThis.setImmediate(resolve));
