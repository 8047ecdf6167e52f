// npm pack runs this before (`out`) and after (`back`): the package goes out without the `prepare` that builds a clone,
// since npm warns whoever installs a package that has one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package.json');
const LINE = '    "prepare": "npm run build",\n';
const SCRIPTS = '  "scripts": {\n';

const text = readFileSync(path, 'utf8').replace(LINE, '');
writeFileSync(path, process.argv[2] === 'back' ? text.replace(SCRIPTS, SCRIPTS + LINE) : text);
