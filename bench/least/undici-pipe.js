// A download to a pipe by undici's client, without checks. It shows how much of the time of `filings` is undici's own.
// Not a row of the benchmark. Argument: URL.
import Client from 'undici/lib/dispatcher/client.js';

const { origin, pathname, search } = new URL(process.argv[2]);
const client = new Client(origin);
client.dispatch(
  { method: 'GET', path: `${pathname}${search}` },
  {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData(controller, chunk) {
      if (process.stdout.write(chunk)) return;
      controller.pause();
      process.stdout.once('drain', () => controller.resume());
    },
    onResponseEnd() {
      client.close();
    },
    onResponseError(_, error) {
      throw error;
    },
  },
);
