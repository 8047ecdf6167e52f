// npm pack runs this script before (`out`) and after (`back`). The package must not have the `prepare` script that
// builds a clone, because npm warns users who install a package with one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package.json');
const LINE = '    "prepare": "npm run build",\n';
const SCRIPTS = '  "scripts": {\n';

const text = readFileSync(path, 'utf8').replace(LINE, '');
writeFileSync(path, process.argv[2] === 'back' ? text.replace(SCRIPTS, SCRIPTS + LINE) : text);
