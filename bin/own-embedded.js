'use strict';

const { getRawAsset } = require('node:sea');

// In the place of own.js in an executable (scripts/build-executable.js): one file has the code, and assets are the rest.
/** Holds the NODE_OPTIONS that the user had, for a process that was started with more. */
const USERS = 'FILINGS_NODE_OPTIONS';

exports.isBuilt = () => true;
exports.read = (path) => Buffer.from(getRawAsset(path));
exports.asked = () => require('../src/asked.ts');
exports.start = (stderr) => require('../src/main.ts').startWithin(getRawAsset, stderr);
// Its code was compiled as it was built.
exports.enableCompileCache = () => {};

/** As in own.js; an executable takes every argument for the program's own, so Node's go by the environment. */
exports.startedWith = (flag) => {
  const users = process.env.NODE_OPTIONS ?? '';
  const env = { ...process.env, [USERS]: users, NODE_OPTIONS: `${users} ${flag}`.trim() };
  return { args: process.argv.slice(2), env };
};

takeOver();

/** What was started so knows its flag as it would from a command line, and hands on what the user had. */
function takeOver() {
  const users = process.env[USERS];
  if (users === undefined) return;
  const added = (process.env.NODE_OPTIONS ?? '').slice(users.length).trim();
  if (added !== '') process.execArgv.push(added);
  if (users === '') delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = users;
  delete process.env[USERS];
}
