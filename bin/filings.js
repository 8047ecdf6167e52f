#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`filings: this needs Node 20.19 or later: it is running on ${process.versions.node}\n`);
  process.exit(2);
}

// Flushes run on libuv's pool; its size is read at its first use, so it is set before anything else.
process.env.UV_THREADPOOL_SIZE ??= '16';
// Certificates are always checked: with this set, Node would warn that they are not.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

for (const [name, fd] of Object.entries({ stdout: 1, stderr: 2 })) openAnew(name, fd);

// Under NODE_DEBUG, Node's own modules print requests with their keys. It was read before this line ran, so the stderr
// that they print to is taken away; the program has the real one.
let stderr;
if (process.env.NODE_DEBUG) {
  stderr = process.stderr;
  Object.defineProperty(process, 'stderr', { value: { isTTY: false, write: () => true } });
  process.removeAllListeners('warning');
}
// For workers and children.
delete process.env.NODE_DEBUG;
delete process.env.NODE_DEBUG_NATIVE;

const own = require('./own.js');
if (!own.isBuilt()) {
  (stderr ?? process.stderr).write("filings: not built yet: run 'npm ci' in the project's folder\n");
  process.exit(2);
}

// Older ones have none: the file would be read for nothing.
if (major >= 22) own.enableCompileCache();
if (process.argv[2] === 'completion' || ['--version', '-V', '--help', '-h'].includes(process.argv.at(-1))) {
  require('./asked.js')
    .isAnswered(own)
    .then((answered) => answered || begin());
} else {
  begin();
}

function begin() {
  const { setFlagsFromString } = require('node:v8');
  // Answers are parsed by WebAssembly: optimising it costs a small download a third of its time and 35 MB, and a large one
  // gains nothing that can be measured. Set before anything is compiled: V8 keeps compiled code by the flags it has.
  setFlagsFromString('--liftoff-only');
  // Garbage is taken out of what has lived for a while when that has grown by a fifth: a batch of 10,000 files takes 78 MB then,
  // with YoungHeap, in the place of 110, for the same time.
  setFlagsFromString('--heap-growing-percent=20');
  const again = require('./again.js');
  const run = again.isNeeded() ? again.start(own) : own.start(stderr);

  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error) => run.crashed(error).then((status) => process.exit(status)));
  }

  // Should nothing be left to wait for while it works, that is no success.
  process.exitCode = 1;
  run.done.then((status) => {
    process.exitCode = status;
    endSoon(20);
  });
}

/** Ends the process also when something holds it, such as an open stdin, but lets what is written get out. */
function endSoon(patience) {
  const unwritten = [process.stdout, stderr ?? process.stderr].some((stream) => stream.writableLength > 0);
  setTimeout(() => (unwritten && patience > 0 ? endSoon(patience - 1) : process.exit()), 50).unref();
}

/**
 * Node tells a pipe that it writes to not to block, and with it all who share the descriptor: a program that does not reckon
 * with that loses what it writes. So a pipe is opened anew as it is first asked for, where /proc leads to it.
 */
function openAnew(name, fd) {
  const ofNode = Object.getOwnPropertyDescriptor(process, name);
  let stream;
  const get = () => {
    stream ??= ownPipe(fd) ?? ofNode.get.call(process);
    return stream;
  };
  Object.defineProperty(process, name, { ...ofNode, get });
}

function ownPipe(fd) {
  const { constants, fstatSync, openSync } = require('node:fs');
  try {
    if (!fstatSync(fd).isFIFO()) return undefined;
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
    const { Socket } = require('node:net');
    return Object.assign(new Socket({ fd: own, readable: false, writable: true }), { fd, ownFd: own });
  } catch {
    return undefined;
  }
}
