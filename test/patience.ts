/**
 * Runs something with longer and longer limits of time, until one is enough for what is to happen within it: how long that takes is
 * the machine's matter. Gives the last run, however it came out.
 */
export async function longEnough<T>(run: (seconds: number) => Promise<T>, isEnough: (ended: T) => boolean): Promise<T> {
  for (let seconds = 1; ; seconds *= 4) {
    const ended = await run(seconds);
    if (isEnough(ended) || seconds >= 16) return ended;
  }
}
