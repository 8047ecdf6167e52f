// What is measured. A case is { what, measure(context) }, whose row holds the figure, its bound and whether that is met;
// `needs` names the programs that it can't do without, and `slow` ones are left out by --quick.
import { AGAIN } from './cases/again.js';
import { LARGE } from './cases/large.js';
import { LEAST } from './cases/least.js';
import { MANY } from './cases/many.js';
import { START } from './cases/start.js';
import { VERIFY } from './cases/verify.js';

export const CASES = [...LEAST, ...LARGE, ...MANY, ...START, ...AGAIN, ...VERIFY];
