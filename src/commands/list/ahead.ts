import { orAbort } from '../../abort.ts';

/**
 * Works on what comes, so many at a time, and gives the results in the order of what came: each as soon as those before
 * it are given, also while the next item is waited for. Throws what `items` and `work` throw in its turn, and the
 * signal's reason.
 */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<Result>,
  signal: AbortSignal,
): AsyncGenerator<Result> {
  const source = items[Symbol.asyncIterator]();
  const working: Promise<Result>[] = [];
  let reading: Promise<void> | undefined;
  let ended = false;
  const read = async () => {
    try {
      const { value, done } = await orAbort(source.next(), signal);
      ended = done === true;
      if (!ended) working.push(quiet(work(value)));
    } catch (error) {
      ended = true;
      working.push(quiet(Promise.reject(error)));
    }
    reading = undefined;
  };
  try {
    for (;;) {
      if (!ended && working.length < most) reading ??= read();
      const [first] = working;
      if (first === undefined && reading === undefined) return;
      if (first === undefined || !(await settlesFirst(first, reading))) await reading;
      else yield await (working.shift() as Promise<Result>);
    }
  } finally {
    // Not waited for: a reading that is under way may never end.
    void source.return?.().catch(() => {});
  }
}

/** Whether the first result is there before another item has been read. */
async function settlesFirst(first: Promise<unknown>, reading: Promise<void> | undefined): Promise<boolean> {
  const settled = first.then(
    () => true,
    () => true,
  );
  return reading === undefined ? settled : Promise.race([settled, reading.then(() => false)]);
}

/** Its failure is thrown where it is awaited, and nowhere before. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
