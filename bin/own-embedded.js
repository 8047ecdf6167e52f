'use strict';

const { getRawAsset } = require('node:sea');

// In the place of own.js in an executable (scripts/executable/): one file has the code, and assets are the rest.
/** Holds the flag of a process that was started with one. */
const GIVEN = 'FILINGS_STARTED_WITH';

exports.isBuilt = () => true;
exports.read = (path) => Buffer.from(getRawAsset(path));
exports.asked = () => require('../src/asked.ts');
exports.help = () => require('../src/help.ts');
exports.start = (stderr) => require('../src/main.ts').startWithin(getRawAsset, stderr);
// What it was compiled to is in it.
exports.enableCompileCache = () => {};

/** As in own.js; an executable takes every argument for the program's own, so Node's go by the environment. */
exports.startedWith = (flag) => {
  const options = `${process.env.NODE_OPTIONS ?? ''} ${flag}`;
  return { args: process.argv.slice(2), env: { ...process.env, NODE_OPTIONS: options, [GIVEN]: flag } };
};

takeOver();

/** What was started so knows its flag as from a command line, and leaves the user's environment to its own children. */
function takeOver() {
  const { [GIVEN]: flag, NODE_OPTIONS: options = '' } = process.env;
  if (!flag) return;
  // Also where Node does not read NODE_OPTIONS: else it would be started again and again.
  process.execArgv.push(flag);
  delete process.env[GIVEN];
  if (options === ` ${flag}`) delete process.env.NODE_OPTIONS;
  else if (options.endsWith(` ${flag}`)) process.env.NODE_OPTIONS = options.slice(0, -flag.length - 1);
}
