'use strict';

// Node 20 compiles the program anew at each start, a fifth of a small download. This keeps the build's files and
// what V8 made of them, all in one file; the directory is the user's alone, since what is read there is run.
const { readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const MAIN = 'main.js';
const OPENING = '(function (exports, require, module, __filename, __dirname) {';
const CLOSING = '\n})';
/** Whoever wrote it has been killed meanwhile. Milliseconds. */
const LEFT_BEHIND_MS = 60_000;
/** A build or a Node that nobody has started for so long is gone; if not, it compiles once more. Milliseconds. */
const FORGOTTEN_MS = 60 * 86_400_000;

/** The build's main module, loaded with what earlier runs compiled; what this run adds is kept when it ends with 0. */
exports.load = (dist, directory) => {
  const place = join(directory, `compiled-${process.version}-${process.arch}-${shortened(dist)}`);
  const main = readFileSync(join(dist, MAIN));
  const kept = readKept(place, main);
  const compiled = new Map();
  const areSameFlags = flagsNow();

  function scriptOf(name) {
    const { source, data } = kept.get(name) ?? { source: sourceOf(join(dist, name)) };
    const options = { filename: join(dist, name), columnOffset: -OPENING.length, cachedData: data };
    const script = new Script(source.latin1Slice(), options);
    compiled.set(name, { source, script, isNew: data === undefined || script.cachedDataRejected });
    return script;
  }

  function keepMore() {
    const isMore = Array.from(compiled.values()).some(({ isNew }) => isNew);
    if (!isMore || !areSameFlags()) return;
    for (const [name, { source, script }] of compiled) kept.set(name, { source, data: script.createCachedData() });
    keep(place, main, kept);
    forgetOthers(directory);
  }

  process.on('exit', (status) => {
    try {
      if (status === 0) keepMore();
    } catch {
      // The next run compiles anew; this one has done its work.
    }
  });
  return requirerIn(dist, scriptOf)(`./${MAIN}`);
};

/** A path in 32 bits (FNV-1a): builds that are installed beside each other have a file each, and one that follows another its file. */
function shortened(path) {
  let bits = 0x811c9dc5;
  for (const byte of Buffer.from(path)) bits = Math.imul(bits ^ byte, 0x01000193) >>> 0;
  return bits.toString(36);
}

/** Whether V8's flags are the same later: it takes back only what was made under those that it has, and a command may set some. */
function flagsNow() {
  const cachedData = new Script('0').createCachedData();
  // Another text as long, since what V8 compiled in this run it does not look up.
  return () => !new Script('1', { cachedData }).cachedDataRejected;
}

/** As Node's require() for the build's files, which ask for each other and for Node's own modules alone. */
function requirerIn(dist, scriptOf) {
  const modules = new Map();
  return function required(id) {
    if (!id.startsWith('./')) return require(id);
    const name = id.slice(2);
    let module = modules.get(name);
    if (module === undefined) {
      module = { exports: {} };
      modules.set(name, module);
      const run = scriptOf(name).runInThisContext();
      run.call(module.exports, module.exports, required, module, join(dist, name), dist);
    }
    return module.exports;
  };
}

/** A file of the build, which is in ASCII, as a function of what modules are given. */
function sourceOf(path) {
  return Buffer.concat([Buffer.from(OPENING), readFileSync(path), Buffer.from(CLOSING)]);
}

/** By the files' names; none where another build was kept: a build's main module tells it from all others. */
function readKept(place, main) {
  const kept = new Map();
  try {
    const bytes = readFileSync(place);
    const [once, again] = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
    const start = once.indexOf('\n') + 1;
    const { names, lengths } = JSON.parse(once.latin1Slice(0, start));
    const [of, ...parts] = partsOf(once.subarray(start), lengths);
    if (!of.equals(main) || !once.equals(again)) return kept;
    for (const [n, name] of names.entries()) kept.set(name, { source: parts[2 * n], data: parts[2 * n + 1] });
  } catch {
    // Nothing yet, or nothing that can be used: it is written anew.
  }
  return kept;
}

/** Throws where there are not just as many bytes. */
function partsOf(bytes, lengths) {
  let end = 0;
  const parts = lengths.map((length) => {
    end += length;
    return bytes.subarray(end - length, end);
  });
  if (end !== bytes.length) throw new RangeError(`${bytes.length} bytes in the place of ${end}`);
  return parts;
}

/**
 * Flushed before it has its name: a power cut must not leave a half. All of it twice, since V8 checks nothing but lengths: one
 * byte that a disk has lost would crash each run from then on. To compare is less than to load what makes a digest.
 */
function keep(place, main, kept) {
  const coming = `${place}.new`;
  try {
    const parts = [main, ...Array.from(kept.values()).flatMap(({ source, data }) => [source, data])];
    const heading = { names: [...kept.keys()], lengths: parts.map(({ length }) => length) };
    const once = [Buffer.from(`${JSON.stringify(heading)}\n`), ...parts];
    const bytes = Buffer.concat([...once, ...once]);
    writeFileSync(coming, bytes, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(coming, place);
  } catch (error) {
    // Another run is at it, or there is no room: the next one may do it.
    if (error.code !== 'EEXIST' || isLeftBehind(coming)) rmSync(coming, { force: true });
  }
}

function isLeftBehind(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > LEFT_BEHIND_MS;
}

/** Each is some megabytes. */
function forgetOthers(directory) {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (name.startsWith('compiled-') && Date.now() - statSync(path).atimeMs > FORGOTTEN_MS)
      rmSync(path, { force: true });
  }
}
