'use strict';

const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

// Where the built program and its files are: beside this one. An executable has own-embedded.js in its place.
const root = join(__dirname, '..');
const dist = join(root, 'dist');

exports.isBuilt = () => existsSync(join(dist, 'main.js'));
exports.read = (path) => readFileSync(join(root, path));
exports.asked = () => require(join(dist, 'asked.js'));
exports.help = () => require(join(dist, 'help.js'));
exports.start = (stderr) => require('./compile-cache.js').loadCompiled(dist).start(root, stderr);
exports.enableCompileCache = () => require('./compile-cache.js').enableCompileCache();

/** With what Node is started to run this program with a flag of its own. */
exports.startedWith = (flag) => ({
  args: [flag, ...process.execArgv, join(__dirname, 'filings.js'), ...process.argv.slice(2)],
  env: process.env,
});
