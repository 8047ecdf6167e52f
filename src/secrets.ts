const REDACTED = '[redacted]';
/** A shorter one would black out ordinary words and hide nothing that can't be guessed. */
const SHORTEST = 4;
/** Of a longer one (a token) the beginning is looked for, and what follows without a gap goes with it. */
const LONGEST_SPELLED = 400;

/**
 * The secrets this run has met, so that no text leaves the program with one in it:
 * raw, base64 and base64url, each also percent-encoded or JSON-escaped, in whole or in part.
 */
export class Secrets {
  readonly #forms = new Map<string, readonly string[]>();
  #pattern: RegExp | undefined;

  /** Remembers a secret; every text redacted from now on is clear of it. */
  add(secret: string): void {
    if (secret.length < SHORTEST || this.#forms.has(secret)) return;
    const bytes = Buffer.from(secret);
    const base64 = bytes.toString('base64');
    this.#forms.set(secret, [secret, base64, base64.replace(/=+$/, ''), bytes.toString('base64url')]);
    this.#pattern = undefined;
  }

  /** Forgets a secret that is of no use any more, such as a token long expired: a run of hours mints many. */
  forget(secret: string): void {
    if (this.#forms.delete(secret)) this.#pattern = undefined;
  }

  /** The text with every form of every secret replaced. */
  redact(text: string): string {
    if (this.#forms.size === 0) return text;
    this.#pattern ??= alternation(new Set([...this.#forms.values()].flat()));
    return text.replace(this.#pattern, REDACTED);
  }
}

/** Longest first, so that a form is never left half replaced. */
function alternation(forms: ReadonlySet<string>): RegExp {
  return new RegExp(
    [...forms]
      .sort((a, b) => b.length - a.length)
      .map(inEverySpelling)
      .join('|'),
    'g',
  );
}

function inEverySpelling(form: string): string {
  const characters = [...form];
  const spelled = characters.slice(0, LONGEST_SPELLED).map(spellings).join('');
  return characters.length > LONGEST_SPELLED ? `${spelled}[^\\s"'<>]*` : spelled;
}

/** Every way to write a character: encoders differ in what they leave as it is (RFC 3986, forms, URL, JSON). */
function spellings(character: string): string {
  // A redirect to a login page encodes the whole URL once more: %25 is the percent sign itself.
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)*${hex(byte, 2)}`).join('');
  if (/[A-Za-z0-9]/.test(character)) return `(?:${percent}|${character})`;
  const units = Array.from({ length: character.length }, (_, at) => `\\\\u${hex(character.charCodeAt(at), 4)}`).join(
    '',
  );
  const json = JSON.stringify(character).slice(1, -1);
  const all = [percent, units, literal(json), literal(character), ...(character === ' ' ? ['\\+'] : [])];
  return `(?:${all.join('|')})`;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/** Hexadecimal digits in either case. */
function hex(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
