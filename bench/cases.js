// Lists the benchmarks. A case is { what, measure(context) }. Its row has the figure, its bound and whether the bound
// is met. `needs` lists required programs, and --quick omits cases with `slow`.
import { AGAIN } from './cases/again.js';
import { LARGE } from './cases/large.js';
import { LEAST } from './cases/least.js';
import { MANY } from './cases/many.js';
import { START } from './cases/start.js';
import { VERIFY } from './cases/verify.js';

export const CASES = [...LEAST, ...LARGE, ...MANY, ...START, ...AGAIN, ...VERIFY];
