'use strict';

const { lstatSync, mkdirSync, realpathSync } = require('node:fs');
const { dirname, isAbsolute, join } = require('node:path');

/**
 * Lets Node keep compiled code from run to run (22.8 and later), in a directory of the user's own: what is read there is
 * run. Node's own choice is below TMPDIR, where another user may have come first.
 */
function enableCompileCache() {
  const { enableCompileCache: enable } = require('node:module');
  const directory = enable && chosenDirectory();
  if (directory !== undefined) enable(directory);
}

/** Loads a build's main module: in Node 20, which has nothing of that kind, in our own way. */
function loadCompiled(dist) {
  const directory = process.versions.node.startsWith('20.') ? chosenDirectory() : undefined;
  return directory === undefined ? require(join(dist, 'main.js')) : require('./compiled.js').load(dist, directory);
}

function chosenDirectory() {
  const { env } = process;
  // What the user chose was chosen before this runs.
  if (env.NODE_COMPILE_CACHE || env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  return privateDirectory(env, process.geteuid?.());
}

/** `filings` in the user's cache directory (XDG), made if missing; undefined where anybody else has a hand in the path. */
function privateDirectory({ XDG_CACHE_HOME: xdg = '', HOME: home = '' }, uid) {
  const base = isAbsolute(xdg) ? xdg : isAbsolute(home) ? join(home, '.cache') : undefined;
  if (base === undefined || uid === undefined) return undefined;
  try {
    makeDirectory(base, uid);
    const directory = join(realpathSync(base), 'filings');
    makeDirectory(directory, uid);
    return isPrivate(lstatSync(directory), uid) && areTrusted(dirname(directory), uid) ? directory : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Where it is missing, and not in another's place: root with a user's HOME must not leave there what the user can't enter.
 * Not with what is missing above it: Node's recursive mkdir never returns on a path such as /proc/nope.
 */
function makeDirectory(path, uid) {
  if (lstatSync(path, { throwIfNoEntry: false }) || !areTrusted(realpathSync(dirname(path)), uid)) return;
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

function isPrivate(stats, uid) {
  return stats.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0;
}

/** Whether nobody but the user and root can put another directory in the place of one on the way to the root. */
function areTrusted(path, uid) {
  const { mode, uid: owner } = lstatSync(path);
  const replaceable = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if (replaceable || (owner !== uid && owner !== 0)) return false;
  return path === '/' || areTrusted(dirname(path), uid);
}

module.exports = { enableCompileCache, loadCompiled, privateDirectory };
