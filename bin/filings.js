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

// On this signal Node would open its debugger, through which any local user could read the key.
process.on('SIGUSR1', () => {});
// Flushes run on libuv's thread pool. Its size is read at its first use, so it must be set before.
process.env.UV_THREADPOOL_SIZE ??= '16';
// Certificates are always checked. With this variable, Node would warn that they are not.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
// WebAssembly parses HTTP responses. Optimizing it takes a third of the time of a small download and saves nothing for
// a large one.
setFlagsFromString('--liftoff-only');
// Collects young garbage often instead of growing its space, which halves the memory of a long batch.
setFlagsFromString('--semi-space-growth-factor=1');

// A stack then names the source files. Reading the maps takes time.
if (process.argv.some((word) => word === '-v' || word === '--verbose')) process.setSourceMapsEnabled(true);

const run = require(program).start(root);
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => run.reportCrash(error).then((status) => process.exit(status)));
}
// If the event loop becomes empty before the run has ended, the exit status must not be 0.
process.exitCode = 1;
run.done.then((status) => {
  process.exitCode = status;
  endSoon(20);
});

/** Ends the process although something, such as an open stdin, keeps it alive, but waits for unwritten output. */
function endSoon(patience) {
  const unwritten = [process.stdout, process.stderr].some((stream) => stream.writableLength > 0);
  setTimeout(() => (unwritten && patience > 0 ? endSoon(patience - 1) : process.exit()), 50).unref();
}

function refuse(why) {
  process.stderr.write(`filings: ${why}\n`);
  process.exit(2);
}
