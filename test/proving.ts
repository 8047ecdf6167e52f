/** In `npm run prove`: all rounds and all rows; otherwise some of each kind. */
export const proving = process.env.FILINGS_PROVE === '1';
