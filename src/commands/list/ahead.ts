/**
 * Works on what comes, so many at a time, and gives the results in the order of what came: each as soon as those before
 * it are given, also while the next one is still waited for. Throws what `items` or `work` throw.
 */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item>,
  most: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const source = items[Symbol.asyncIterator]();
  const working: Promise<Result>[] = [];
  let next: Promise<IteratorResult<Item>> | undefined;
  let ended = false;
  try {
    for (;;) {
      if (!ended && working.length < most) next ??= quiet(source.next());
      const [first] = working;
      if (first === undefined && next === undefined) return;
      const came = await sooner(first, next);
      if (came === undefined) {
        working.shift();
        yield (await first) as Result;
      } else {
        next = undefined;
        ended = came.done === true;
        if (!came.done) working.push(quiet(work(came.value)));
      }
    }
  } finally {
    // Not waited for: a reading that is under way may never end.
    void source.return?.().catch(() => {});
  }
}

/** The next item, when it is there before the first result; undefined when the result is there, or there is no item to wait for. */
async function sooner<Item>(
  first: Promise<unknown> | undefined,
  next: Promise<IteratorResult<Item>> | undefined,
): Promise<IteratorResult<Item> | undefined> {
  if (next === undefined) return undefined;
  if (first === undefined) return next;
  const settled = first.then(
    () => undefined,
    () => undefined,
  );
  return Promise.race([settled, next]);
}

/** Its failure is thrown where it is awaited, and nowhere before. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
