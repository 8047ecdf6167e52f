// Runs inside Wine on Node for Windows. It starts the program as the test says, and returns its output. The test
// cannot do so from outside, because a pipe of Linux is not a pipe for Windows.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const test = connect(Number(process.argv[2]), '127.0.0.1');
const children = new Map();
let opened;

const ACTIONS = {
  start({ id, args, cwd, env, input = '' }) {
    const { SystemRoot, ComSpec, PATH, PATHEXT, TEMP, APPDATA, USERPROFILE } = process.env;
    const usual = { SystemRoot, ComSpec, PATH, PATHEXT, TEMP, APPDATA, USERPROFILE };
    const child = spawn(process.execPath, args, { cwd, env: { ...usual, ...env } });
    const output = { stdout: [], stderr: [] };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (bytes) => output[name].push(bytes));
    child.on('error', (error) => reply({ id, exitCode: -1, stdout: '', stderr: String(error) }));
    child.on('close', (code) => {
      const [stdout, stderr] = [output.stdout, output.stderr].map((chunks) => Buffer.concat(chunks).toString('base64'));
      reply({ id, exitCode: code ?? -1, stdout, stderr });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(Buffer.from(input, 'base64'));
    children.set(id, child);
  },
  /** Ends a program at once. No program on Windows can handle that. */
  kill: ({ id }) => children.get(id).kill(),
  /** The reader of a program's stdout goes away. */
  closeStdout: ({ id }) => children.get(id).stdout.destroy(),
  open({ id, path }) {
    opened = openSync(path, 'r');
    reply({ id });
  },
  close({ id }) {
    closeSync(opened);
    reply({ id });
  },
};

const reply = (message) => test.write(`${JSON.stringify(message)}\n`);
createInterface({ input: test }).on('line', (line) => {
  const request = JSON.parse(line);
  ACTIONS[request.action](request);
});
test.on('close', () => process.exit());
