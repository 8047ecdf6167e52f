#!/usr/bin/env node
'use strict';

// Checks the version of Node, sets what must be set before any other code runs, and starts the bundle in dist/.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  refuse(`Node 20.19 or later is required, but this is Node ${process.versions.node}`);
}
const root = join(__dirname, '..');
const program = join(root, 'dist/main.js');
if (!existsSync(program)) refuse("not built yet: run 'npm ci' in the project's folder");

// Without a handler, this signal makes Node open its debugger, through which any local user could read the key.
process.on('SIGUSR1', () => {});
// Flushes to disk run on libuv's thread pool. With its default of 4 threads, the flushes of many jobs would queue up.
// libuv reads the size when it starts the pool, so it must be set before anything uses the pool.
process.env.UV_THREADPOOL_SIZE ??= '16';
// The program checks certificates whatever this variable says, but Node would print a warning that it does not.
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;

// Stack traces then show the source files instead of the bundle. Only with --verbose, because reading the maps is slow.
if (process.argv.some((word) => word === '-v' || word === '--verbose')) process.setSourceMapsEnabled(true);

const { main, reportCrash, systemWorld } = require(program);
const world = systemWorld(root);
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => reportCrash(error, world).then((status) => process.exit(status)));
}
// Node exits with this status if nothing is left to wait for although the run has not ended. That is a defect.
process.exitCode = 1;
main(world).then((status) => {
  process.exitCode = status;
  endSoon(20);
});

/**
 * Ends the process even if something, such as an open stdin, would keep it alive. Waits 50 ms, and for unwritten output,
 * which `process.exit` would lose, up to `retries` times 50 ms more.
 */
function endSoon(retries) {
  const unwritten = [process.stdout, process.stderr].some((stream) => stream.writableLength > 0);
  setTimeout(() => (unwritten && retries > 0 ? endSoon(retries - 1) : process.exit()), 50).unref();
}

function refuse(why) {
  process.stderr.write(`filings: ${why}\n`);
  process.exit(2);
}
