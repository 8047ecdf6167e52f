'use strict';

const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

// Where the built program and its files are: beside this one. An executable has own-embedded.js in its place.
const root = join(__dirname, '..');
const main = join(root, 'dist', 'main.js');

exports.isBuilt = () => existsSync(main);
exports.read = (path) => readFileSync(join(root, path));
exports.asked = () => require(join(root, 'dist', 'asked.js'));
exports.help = () => require(join(root, 'dist', 'help.js'));
exports.start = (stderr) => require(main).start(root, stderr);
exports.enableCompileCache = () => require('./compile-cache.js').enableCompileCache();

/** How this program is started with a flag of Node's: file, arguments, environment. */
exports.startedWith = (flag) => ({
  args: [flag, ...process.execArgv, join(__dirname, 'filings.js'), ...process.argv.slice(2)],
  env: process.env,
});
