/** True in `npm run prove`, which runs all rounds and rows. Otherwise the tests run some of each kind. */
export const proving = process.env.FILINGS_PROVE === '1';
