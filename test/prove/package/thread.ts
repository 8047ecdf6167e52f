import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes down what threads say they hashed: without one a download hashes by itself, and nobody sees a difference. */
const LISTENER = `
const { appendFileSync } = require('node:fs');
const { Worker } = require('node:worker_threads');
const { emit } = Worker.prototype;
Worker.prototype.emit = function (name, value) {
  if (name === 'message' && value?.sha256) appendFileSync(process.env.HEARD, value.sha256);
  return emit.apply(this, arguments);
};
`;

/** An environment in which the program's threads are listened to, and the hash that one of them told. */
export async function listener(folder: string) {
  const [file, heard] = [join(folder, 'listener.cjs'), join(folder, 'heard')];
  await writeFile(file, LISTENER);
  await writeFile(heard, '');
  return { env: { NODE_OPTIONS: `--require ${file}`, HEARD: heard }, heard: () => readFile(heard, 'utf8') };
}
