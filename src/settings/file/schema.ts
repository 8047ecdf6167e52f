import * as z from 'zod/mini';
import type { Kind } from '../../spec/kind.ts';
import { RECIPE_MEMBERS, SETTINGS } from '../table.ts';

/** The config file as a zod schema, made from the settings' records; JSON Schema is made from this one. */
export function configSchema() {
  const members = SETTINGS.filter((spec) => spec.inFile).map(({ key, kind }) => [key, memberSchema(kind)] as const);
  return z.strictObject({
    $schema: z.optional(z.string()),
    ...Object.fromEntries(members),
    profiles: z.optional(
      z.record(z.string(), z.strictObject(Object.fromEntries(members.filter(([key]) => key !== 'profile')))),
    ),
  });
}

function memberSchema(kind: Kind<unknown>): z.ZodMiniType {
  return z.optional(valueSchema(kind));
}

function valueSchema({ json, range: [least, most] = [0, Number.MAX_SAFE_INTEGER], form, choices }: Kind<unknown>) {
  switch (json) {
    case 'boolean':
      return z.boolean();
    case 'integer':
      return z.int().check(z.minimum(least), z.maximum(most));
    case 'words':
      return z.array(z.string()).check(z.minLength(1));
    case 'recipe':
      return z.strictObject(
        Object.fromEntries(Object.entries(RECIPE_MEMBERS).map(([name, kind]) => [name, memberSchema(kind)])),
      );
    default:
      if (choices !== undefined) return z.enum(choices);
      return form === undefined ? z.string() : z.string().check(z.regex(form));
  }
}
