'use strict';

const { Script } = require('node:vm');

/**
 * The program's text as a function of what modules are given. What an earlier run compiled of it is taken where V8 still
 * wants it, and without a word otherwise: Node's own way (`useCodeCache`) warns on stderr whenever NODE_OPTIONS or
 * another processor make it useless.
 */
exports.compiled = (filename, text, cachedData) => new Script(text, { filename, cachedData });
