import { configJsonSchema } from './json-schema.ts';
import { manPage, type Release } from './man-page.ts';

/** The generated files by their paths in the repository. */
export function generatedFiles(release: Release): Readonly<Record<string, string>> {
  return { 'man/filings.1': manPage(release), 'schema/config.schema.json': configJsonSchema() };
}
