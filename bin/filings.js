#!/usr/bin/env node
'use strict';

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  refuse(`this needs Node 20.19 or later: it is running on ${process.versions.node}`);
}
const root = join(__dirname, '..');
const program = join(root, 'dist/main.js');
if (!existsSync(program)) refuse("not built yet: run 'npm ci' in the project's folder");

// Node would open its debugger on this signal, through which any local user could read the key.
process.on('SIGUSR1', () => {});
// Flushes run on libuv's pool; its size is read at its first use, so it is set before anything else.
process.env.UV_THREADPOOL_SIZE ??= '16';
// Certificates are always checked: with this set, Node would warn that they are not.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
// Answers are parsed by WebAssembly: optimising it costs a small download a third of its time, and a large one gains nothing.
setFlagsFromString('--liftoff-only');
// Young garbage is collected often instead of growing: a long batch takes half the memory.
setFlagsFromString('--semi-space-growth-factor=1');

const run = require(program).start(root);
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => run.crashed(error).then((status) => process.exit(status)));
}
// Should nothing be left to wait for while it works, that is no success.
process.exitCode = 1;
run.done.then((status) => {
  process.exitCode = status;
  endSoon(20);
});

/** Ends the process also when something holds it, such as an open stdin, but lets what is written get out. */
function endSoon(patience) {
  const unwritten = [process.stdout, process.stderr].some((stream) => stream.writableLength > 0);
  setTimeout(() => (unwritten && patience > 0 ? endSoon(patience - 1) : process.exit()), 50).unref();
}

function refuse(why) {
  process.stderr.write(`filings: ${why}\n`);
  process.exit(2);
}
