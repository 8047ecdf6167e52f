// The measured command lines: those of `filings`, and those of other programs for the same files.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const ACCESSION = '0001234567-24-000001';
export const KEY = 'bench-key';
export const JOBS = '16';
/**
 * Between these numbers, the files of a run are set aside before the next one, and not deleted. ext4 passes over the
 * numbers of recently deleted files one by one, so after a deletion of 2,000 files, creating as many takes twice as long.
 * More than `most` would need too much space, so there the figures include that time.
 */
const SET_ASIDE = { least: 50, most: 20_000 };

export const sh = (script, ...args) => ['sh', '-c', script, 'sh', ...args];

/**
 * The context for the same service over TLS. Only then the trusted certificate is set, because Node would read it in
 * vain otherwise.
 */
export const overTls = ({ tls, ...context }) => ({ ...context, ...tls });

/** A script of bench/least/, which does the same work without checks, retries and records. */
export const least = (script, ...args) => [process.execPath, join(import.meta.dirname, 'least', script), ...args];

/** The command lines for a service at `url`. */
export function commands({ filings, url, folder, ca }) {
  const out = join(folder, 'out');
  const fresh = async () => {
    const { length } = await readdir(out).catch(() => []);
    if (length > SET_ASIDE.most || length < SET_ASIDE.least) await rm(out, { recursive: true, force: true });
    else await rename(out, join(folder, randomUUID()));
    await mkdir(out);
    // Or the first flush of the next run would have to write the files that are set aside.
    execFileSync('sync');
  };
  const link = (name) => `${url}/v1/download?accession_no=${ACCESSION}&file_name=${name}`;
  const run = (...args) => [...filings, 'download', ...args, '--base-url', url, '--api-key', KEY];
  const own = (...args) => run(ACCESSION, ...args);
  const header = `Authorization: ${KEY}`;
  // Each program gets the trusted certificate.
  const env = ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: ca, CURL_CA_BUNDLE: ca };
  return {
    out,
    fresh,
    link,
    header,
    run: (...args) => ({ argv: run(...args) }),
    ours: (...args) => ({ argv: own(...args), before: fresh, env }),
    // The names are not passed as arguments of a function, because 100,000 of them would overflow its stack.
    batch: (files, ...more) => ({
      argv: [...own(), ...files, '-d', out, '-j', JOBS, ...more],
      before: fresh,
    }),
    ourPipe: (name) => ({ argv: sh('"$@" | cat > /dev/null', ...own(name, '-o', '-')), env }),
    curlToDisk: (name) => ({
      argv: sh('curl -sSf -H "$1" -o "$2" "$3" && sync "$2"', header, join(out, name), link(name)),
      before: fresh,
      env,
    }),
    leastPipe: (name) => ({ argv: sh('"$@" | cat > /dev/null', ...least('pipe.js', link(name))), env }),
    curlPipe: (name) => ({ argv: sh('curl -sSf -H "$1" "$2" | cat > /dev/null', header, link(name)), env }),
  };
}

/** `curl -Z -K LIST`, then a flush of its files, because curl flushes nothing. */
export const curlAndSync = (out, list, ...options) => {
  const script = 'out=$1; shift; curl -sSf -Z --create-dirs "$@" && find "$out" -type f -exec sync {} +';
  return sh(script, out, '--parallel-max', JOBS, '-K', list, ...options);
};

/** `curl -Z`, aria2c and a shell loop for the same files, each with its own list. */
export async function peersOf({ folder, url }, files) {
  const { out, fresh, link, header } = commands({ filings: [], folder, url });
  const curl = join(folder, 'curl.conf');
  const aria = join(folder, 'aria2.txt');
  const lines = join(folder, 'lines.txt');
  await writeFile(curl, files.map((name) => `url = "${link(name)}"\noutput = "${join(out, name)}"\n`).join(''));
  await writeFile(aria, files.map((name) => `${link(name)}\n  out=${name}\n`).join(''));
  await writeFile(lines, files.map((name) => `${link(name)} ${join(out, name)}\n`).join(''));
  const loop = 'while read -r url path; do curl -sSf -H "$1" -o "$path" "$url" || exit; done < "$2"';
  return {
    curl: { argv: curlAndSync(out, curl, '-H', header), before: fresh },
    aria2c: {
      argv: ['aria2c', '-q', '-j', JOBS, '--file-allocation=none', '--header', header, '-d', out, '-i', aria],
      before: fresh,
    },
    loop: { argv: sh(loop, header, lines), before: fresh },
  };
}
