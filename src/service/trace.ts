import type { Answer, HeaderFields } from '../http/request.ts';
import { REDACTED, type Secrets } from '../secrets.ts';
import type { Credentialed } from './credentials.ts';

type Fields = Readonly<Record<string, string>>;

/** Fields that hold credentials, whoever sends them. */
const SECRET_FIELDS = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie'];

/** A request as `--verbose` tells it. What it carries is left out by its place, since a short key is found no other way. */
export function requestLines(fields: Fields, { shown }: Credentialed): string[] {
  return [`> GET ${shown.url.href}`, ...fieldLines('>', { ...fields, ...shown.headers })];
}

/** An answer's head as `--verbose` tells it; a service may send back what it was sent. */
export function answerLines({ status, headers }: Answer, sent: Credentialed): string[] {
  const secretNames = [...SECRET_FIELDS, ...Object.keys(sent.headers).map((name) => name.toLowerCase())];
  const secretValues = Object.values(sent.headers);
  const isSecret = (name: string, value: unknown) => secretNames.includes(name) || secretValues.includes(String(value));
  const shown = Object.entries(headers).map(([name, value]) => [name, isSecret(name, value) ? REDACTED : value]);
  return [`< ${status}`, ...fieldLines('<', Object.fromEntries(shown))];
}

function fieldLines(direction: string, fields: HeaderFields): string[] {
  return Object.entries(fields).map(([name, value]) => `${direction}   ${name}: ${value}`);
}

/**
 * An answer whose validators hold no secret: one that a service made of our key would go into the report, the
 * resume record and If-Range. Such a file is one without a validator.
 */
export function withoutTellingValidators(answer: Answer, secrets: Secrets): Answer {
  const telling = ['etag', 'last-modified'].filter((name) => {
    return secrets.holds(String(answer.headers[name] ?? ''));
  });
  if (telling.length === 0) return answer;
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !telling.includes(name)));
  return { ...answer, headers };
}
