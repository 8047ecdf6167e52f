import * as z from 'zod/mini';
import { RECIPE_MEMBERS, SETTINGS, type SettingSpec } from './options.ts';
import { DURATION, RATE } from './values.ts';

/** The config file as a zod schema, made from the settings' records; JSON Schema is made from this one. */
export function configSchema() {
  const inFile = SETTINGS.filter((spec) => spec.inFile);
  const members = inFile.map((spec) => [spec.key, z.optional(memberSchema(spec))] as const);
  return z.strictObject({
    $schema: z.optional(z.string()),
    ...Object.fromEntries(members),
    profiles: z.optional(
      z.record(z.string(), z.strictObject(Object.fromEntries(members.filter(([key]) => key !== 'profile')))),
    ),
  });
}

function memberSchema(spec: Pick<SettingSpec, 'kind' | 'range' | 'option'>): z.ZodMiniType {
  switch (spec.kind) {
    case 'switch':
      return z.boolean();
    case 'count':
      return z.int().check(z.minimum(spec.range?.[0] ?? 0), z.maximum(spec.range?.[1] ?? Number.MAX_SAFE_INTEGER));
    case 'duration':
    case 'timeout':
      return z.string().check(z.regex(DURATION));
    case 'rate':
      return z.string().check(z.regex(RATE));
    case 'choice':
      return z.enum(spec.option?.choices ?? []);
    case 'argv':
      return z.array(z.string()).check(z.minLength(1));
    case 'jwt-recipe':
      return z.strictObject(
        Object.fromEntries(
          Object.entries(RECIPE_MEMBERS).map(([key, kind]) => [key, z.optional(memberSchema({ kind }))]),
        ),
      );
    default:
      return z.string();
  }
}
