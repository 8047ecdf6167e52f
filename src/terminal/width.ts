import stringWidth from 'string-width';

/** Columns that a printable text takes on a terminal: joined emoji and flags are one sign, marks take none (UAX 11, 29, UTS 51). */
export const displayWidth = (text: string): number => stringWidth(text, { countAnsiEscapeCodes: true });
