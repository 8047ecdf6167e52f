import { execa } from 'execa';

/**
 * A script that ends with the first of its commands that fails. `bash -e` alone goes on after `npm ci && npm link` where
 * npm ci failed: each command is followed by its own status.
 */
export async function strictly(script: string): Promise<string> {
  return (await commandsOf(script)).map((command) => `${command}(exit $?)\n`).join('');
}

/** The complete commands of a script, each with all its lines, as bash itself reads them. */
export async function commandsOf(script: string): Promise<readonly string[]> {
  const commands: string[] = [];
  let held = '';
  for (const line of script.split(/(?<=\n)/)) {
    held += line;
    if (!(await isComplete(held))) continue;
    commands.push(held);
    held = '';
  }
  return held === '' ? commands : [...commands, held];
}

async function isComplete(text: string): Promise<boolean> {
  if (text.endsWith('\\\n')) return false;
  // Of a here-document that goes on it only warns.
  const { exitCode, stderr } = await execa('bash', ['--norc', '-n'], { input: text, reject: false });
  return exitCode === 0 && stderr === '';
}
