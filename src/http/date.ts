const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';
const LONG_DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hours>[01]\\d|2[0-3]):(?<minutes>[0-5]\\d):(?<seconds>[0-5]\\d|60)';

/** The three forms of RFC 9110 section 5.6.7: IMF-fixdate, and the obsolete ones of RFC 850 and asctime. */
const FORMS = [
  `(?:${DAYS}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT`,
  `(?:${LONG_DAYS}), (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT`,
  `(?:${DAYS}) ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * The time that a date of HTTP means, in milliseconds since the epoch; undefined for anything else, since
 * Date.parse takes "-1" for a year. `now` says which century two digits mean.
 */
export function httpDate(text: string, now: number): number | undefined {
  for (const form of FORMS) {
    const parts = form.exec(text.trim())?.groups;
    if (parts !== undefined) return timeOf(parts, now);
  }
  return undefined;
}

/**
 * The time that a date means, which may also be none of HTTP's forms: without a zone it is UTC, as all of HTTP's are, and not
 * the machine's own. NaN where it says no time.
 */
export function laxDate(text: string): number {
  return Date.parse(/ ([a-z]{1,5}|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
}

function timeOf(parts: Readonly<Record<string, string>>, now: number): number | undefined {
  const number = (name: string) => Number(parts[name]);
  const [month, day] = [MONTHS.indexOf(parts.month ?? ''), number('day')];
  const year = parts.year?.length === 2 ? nearYear(number('year'), now) : number('year');
  const time = Date.UTC(year, month, day, number('hours'), number('minutes'), number('seconds'));
  // Date.UTC takes the 31st of February for a day in March, and the year 99 for 1999.
  return new Date(Date.UTC(year, month, day)).getUTCDate() === day && year >= 1000 ? time : undefined;
}

/** More than 50 years ahead is the last century's. */
function nearYear(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
