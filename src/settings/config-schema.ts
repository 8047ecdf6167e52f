import * as z from 'zod/mini';
import { SETTINGS, type SettingSpec } from './options.ts';
import { DURATION, RATE } from './values.ts';

/** The members of the config file's `jwt`. */
const JWT_RECIPE = z.strictObject({
  keyFile: z.optional(z.string()),
  secretFile: z.optional(z.string()),
  alg: z.optional(z.string()),
  kid: z.optional(z.string()),
  sub: z.optional(z.string()),
  name: z.optional(z.string()),
  lifetime: z.optional(z.string().check(z.regex(DURATION))),
});

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

function memberSchema(spec: SettingSpec): z.ZodMiniType {
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
      return JWT_RECIPE;
    default:
      return z.string();
  }
}
