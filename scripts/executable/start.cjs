'use strict';

const { getRawAsset } = require('node:sea');
const { compiled } = require('./compiled.cjs');

// What Node runs in an executable: the program, from its text and what was compiled of it.
const main = 'dist/filings.js';
const text = Buffer.from(getRawAsset(main)).latin1Slice();
const script = compiled(main, text, Buffer.from(getRawAsset(`${main}.cache`)));
script.runInThisContext()(exports, require, module, __filename, __dirname);
