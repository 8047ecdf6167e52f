import * as z from 'zod/mini';
import { createConfigSchema } from '../../src/settings/config-check.ts';
import { describeExpected, type NamedSetting, SETTINGS } from '../../src/settings/table.ts';

/** The JSON Schema of the config file, for editors. */
export function configJsonSchema(): string {
  const schema = z.toJSONSchema(createConfigSchema(), {
    override({ jsonSchema, path, zodSchema }) {
      // Only the member itself gets a description, not its type next to `null`.
      if (zodSchema._zod.def.type !== 'optional') return;
      const spec = SETTINGS.find(({ name, inFile }) => inFile && name === path.at(-1) && path.at(-2) === 'properties');
      if (spec === undefined || isRecipeMember(path)) return;
      jsonSchema.description = describeSetting(spec);
      if (spec.default !== undefined) jsonSchema.default = defaultOf(spec);
    },
  });
  return `${JSON.stringify({ ...schema, title: 'The config file of filings' }, undefined, 2)}\n`;
}

function isRecipeMember(path: readonly (string | number)[]): boolean {
  return path.at(-3) === 'jwt';
}

function describeSetting(spec: NamedSetting): string {
  return `${spec.help}: ${describeExpected(spec.kind)}`;
}

function defaultOf({ kind, default: text }: NamedSetting): unknown {
  return kind.json === undefined ? text : JSON.parse(text ?? 'null');
}
