import { FilingsError } from '../errors.ts';

/** Makes a `local_io` of `work` an error that names the option and stops the run. */
export async function blameOption<T>(option: '--report' | '--done' | '--dry-run', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilingsError) || error.code !== 'local_io') throw error;
    // The plan of a dry run always goes to stdout, so there is no other file to choose.
    const hint = option === '--dry-run' ? undefined : `choose another file with ${option}`;
    throw error.with({ subject: { name: option }, hint, stopsRun: true });
  }
}
