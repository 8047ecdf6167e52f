'use strict';

const { fstatSync, writeSync } = require('node:fs');

const SHELLS = ['bash', 'zsh', 'fish'];
const STDOUT = 1;
/** The major number of /dev/null and its like (Linux, admin-guide/devices). */
const MEMORY_DEVICES = 1;

/**
 * Answers what shells ask as they start and while a person types, and what people ask most, where the answer is at hand:
 * true when it is written. Otherwise the whole program has to see to it, and to what went wrong here.
 */
exports.isAnswered = async (own) => {
  try {
    const text = await answerTo(process.argv.slice(2), own);
    if (text !== undefined) writeAll(Buffer.from(text));
    return text !== undefined;
  } catch {
    return false;
  }
};

/** Each reads as few files as it can: a start is made of them. */
function answerTo(argv, own) {
  const [first, second] = argv;
  if (argv.length === 1 && (first === '--version' || first === '-V')) return versionFor(own);
  if (first !== 'completion' || (argv.length === 2 && second.startsWith('-'))) return helpFor(argv, own);
  const isScript = argv.length === 2 && SHELLS.includes(second);
  return isScript ? own.read(`completions/filings.${second}`) : namesFor(argv, own);
}

function versionFor(own) {
  return `filings ${JSON.parse(own.read('package.json').toString()).version}\n`;
}

/** Kept by the build, where nothing says how wide it is to be. */
function helpFor(argv, own) {
  if (!argv.every((word) => /^[a-z]+$|^-h$|^--help$/.test(word))) return undefined;
  const isTerminal = mayBeTerminal();
  if (!isTerminal && process.env.COLUMNS === undefined) {
    return own.read(`dist/help/${argv.join(' ')}.txt`);
  }
  const stdout = { columns: isTerminal ? process.stdout.columns : undefined };
  return own.help().answer({ argv, env: process.env, stdout });
}

/** Only a terminal has a width, and opening the stream, even `node:tty`, takes longer than all the rest. */
function mayBeTerminal() {
  const stats = fstatSync(STDOUT);
  return stats.isCharacterDevice() && stats.rdev >> 8 !== MEMORY_DEVICES;
}

function namesFor(argv, own) {
  return own.asked().answer({
    argv,
    env: process.env,
    // It may be gone, which matters only to a relative path.
    get cwd() {
      return process.cwd();
    },
    uid: process.geteuid?.(),
    now: Date.now,
  });
}

/** Node's streams would be a tenth of the start. */
function writeAll(bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(STDOUT, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      // Its reader is slow, and whoever opened it did so without waiting.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
