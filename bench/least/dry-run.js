// A minimal dry run in Node: reads lines, skips repeated names, checks whether each file exists, and writes a JSON line
// for it. Arguments: INPUT, DIRECTORY, REPORT.
import { appendFileSync, createReadStream, lstatSync } from 'node:fs';
import { join } from 'node:path';

const [input, directory, report] = process.argv.slice(2);
const seen = new Set();
let rest = '';
for await (const chunk of createReadStream(input, 'utf8')) {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  let text = '';
  for (const line of lines) {
    if (seen.has(line)) continue;
    seen.add(line);
    const [accession, name] = line.split(' ');
    const path = join(directory, accession, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    const result = found === undefined ? 'planned' : 'skipped';
    text += `${JSON.stringify({ v: 1, accession_no: accession, file_name: name, path, result, bytes: found?.size ?? 0 })}\n`;
  }
  appendFileSync(report, text);
}
