'use strict';

const { constants: files, readFileSync, readdirSync, readlinkSync } = require('node:fs');

// Answers are parsed by WebAssembly, for whose memory Node reserves 10 GiB of addresses. Under a limit on them
// (ulimit -v, usual on batch clusters) it does without only when it is started with this flag (Node 20.15 and later).
const FLAG = '--disable-wasm-trap-handler';
/** With so many there is room for what Node reserves, twice. */
const AMPLE_BYTES = 32 * 2 ** 30;
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Whether this process has too few addresses for Node's way of giving memory to WebAssembly. */
exports.isNeeded = () => {
  if (process.execArgv.includes(FLAG) || process.env.NODE_OPTIONS?.includes(FLAG)) return false;
  try {
    const limit = /^Max address space +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit !== undefined && Number(limit) < AMPLE_BYTES;
  } catch {
    // No /proc: no such limit that could be known of, nor one on macOS that is kept to.
    return false;
  }
};

/** Runs the same command line in a Node of its own that has the flag, and ends as that ends: as `start` in main.ts. */
exports.start = (own) => {
  // Here alone: every start of the program reads this file.
  const { spawn } = require('node:child_process');
  const { args, env } = own.startedWith(FLAG);
  const child = spawn(process.execPath, args, { env, stdio: inherited() });
  for (const name of FORWARDED) process.on(name, () => child.kill(name));
  const crashed = async (error) => {
    process.stderr.write(`filings: cannot start under a limit on address space (ulimit -v): ${error.message}\n`);
    return 8;
  };
  const done = new Promise((resolve) => {
    child.on('error', (error) => resolve(crashed(error)));
    child.on('exit', (status, signal) => resolve(status ?? endBy(signal)));
  });
  return { done, crashed };
};

/** Ends this process as the other ended; the status is for a signal that does not end one. */
function endBy(signal) {
  for (const name of FORWARDED) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  return 128 + require('node:os').constants.signals[signal];
}

/** All open files go along, since an argument may name one (`/dev/fd/63`), but those that Node has for itself. */
function inherited() {
  const stdio = ['inherit', 'inherit', 'inherit'];
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd > 2 && !isNodes(fd)) stdio[fd] = fd;
  }
  return Array.from(stdio, (way) => way ?? 'ignore');
}

function isNodes(fd) {
  try {
    if (readlinkSync(`/proc/self/fd/${fd}`).startsWith('anon_inode:')) return true;
    // Its pipes do not wait, those of a shell do.
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & files.O_NONBLOCK) !== 0;
  } catch {
    return true;
  }
}
