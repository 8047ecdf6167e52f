// A minimal download of one small file in Node: one GET by undici's client, one write, a flush and a link. Arguments: URL,
// FILE. bench/run.js bundles it as the program is bundled, because loading is most of the time.
import { closeSync, fdatasyncSync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import Client from 'undici/lib/dispatcher/client.js';

const [url, path] = process.argv.slice(2);
const { origin, pathname, search } = new URL(url);
const temporary = `${path}.part`;
const file = openSync(temporary, 'wx');
const client = new Client(origin);
client.dispatch(
  { method: 'GET', path: `${pathname}${search}` },
  {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData: (_, chunk) => writeSync(file, chunk),
    onResponseEnd() {
      fdatasyncSync(file);
      closeSync(file);
      linkSync(temporary, path);
      unlinkSync(temporary);
      fsyncSync(openSync(dirname(path), 'r'));
      client.close();
    },
    onResponseError(_, error) {
      throw error;
    },
  },
);
