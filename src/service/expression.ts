// JMESPath (https://jmespath.org/specification.html). Its library says what is wrong in its own words, such as
// "expected Star, got: EOF", and not where. Loaded only when it is needed, because loading the library takes time.
import { compile, search } from '@jmespath-community/jmespath';
import { orList } from '../text.ts';

/** Undefined for null, too. Throws a plain sentence if the expression cannot be applied to this value. */
export function evaluate(value: unknown, expression: string): unknown {
  try {
    return search(value as Parameters<typeof search>[0], expression) ?? undefined;
  } catch (error) {
    const { message } = error as Error;
    if (!message.startsWith('not-a-number')) throw new Error(message.replace(/^Invalid \w+: /, ''));
    throw new Error('it calculates with something that is not a number (a name with - or / must be in double quotes)');
  }
}

/** Only faults that no value can mend. */
export function findExpressionFault(expression: string): string | undefined {
  if (parse(expression) !== 'complete') return describeSyntaxFault(expression);
  try {
    // There is no response yet, so an empty object takes its place.
    evaluate({}, expression);
    return undefined;
  } catch (error) {
    // Other faults may be due to the empty object.
    const { message } = error as Error;
    return /^Unknown function|^\w+\(\) takes|undefined variable/.test(message) ? message : undefined;
  }
}

/** The fault is where the longest beginning ends that may still become an expression. */
function describeSyntaxFault(expression: string): string {
  let end = 0;
  while (end < expression.length && parse(expression.slice(0, end + 1)) !== 'wrong') end += 1;
  const isCut = end === expression.length;
  // Within a quoted name, it is the name that is wrong.
  while (!isCut && parse(expression.slice(0, end)) === 'unclosed') end -= 1;
  const start = expression.slice(0, end);
  const [token] = /^(?:(["'`]).*?\1|\w+|.|$)/su.exec(expression.slice(end)) ?? [];
  const where = isCut ? 'it ends too early' : `unexpected '${token}' at character ${end + 1}`;
  return `${where}: expected ${describeNext(start)}`;
}

function parse(text: string): 'complete' | 'incomplete' | 'unclosed' | 'wrong' {
  try {
    compile(text);
    return 'complete';
  } catch (error) {
    const { message } = error as Error;
    if (/unexpected end of JSON input(?:$|.*undefined$)/.test(message)) return 'unclosed';
    return /\(EOF\)|: EOF\b/.test(message) ? 'incomplete' : 'wrong';
  }
}

const VALUES = { 'a name': ' x', 'a number': ' 1', '*': '*', '?': '?', '[': '[', '{': '{', 'a colon': ':', ']': ']' };
const OPERATOR = ' == x';
const CONTINUATIONS = { 'a dot': '.', '[': '[', 'an operator': OPERATOR, 'a comma': ',', ']': ']', ')': ')', '}': '}' };

function describeNext(start: string): string {
  const state = parse(start);
  if (state === 'unclosed') return 'the closing quote';
  const canFollow = (text: string) => parse(start + text) !== 'wrong';
  const candidates = Object.entries(canFollow(OPERATOR) ? CONTINUATIONS : VALUES);
  const next = candidates.filter(([, text]) => canFollow(text)).map(([name]) => name);
  return orList([...next, ...(state === 'complete' ? ['the end'] : [])]);
}
