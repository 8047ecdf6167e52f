'use strict';

const { readFileSync, writeFileSync } = require('node:fs');
const { compiled } = require('./compiled.cjs');

// Keeps what V8 compiles of the program as it starts, beside its text: node warm.cjs NAME FILE, in the project's folder.
// More than that would cost each start more than it saves.
const [, , name, file] = process.argv;
const script = compiled(name, readFileSync(file, 'latin1'));
process.argv = [process.execPath, process.execPath, '--version'];
process.on('exit', () => writeFileSync(`${file}.cache`, script.createCachedData()));

const sea = { getRawAsset: (path) => new Uint8Array(readFileSync(path)).buffer };
const given = (wanted) => (wanted === 'node:sea' ? sea : require(wanted));
script.runInThisContext()(exports, given, module, __filename, __dirname);
