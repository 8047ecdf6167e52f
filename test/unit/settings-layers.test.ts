import { describe, expect, test } from 'vitest';
import { createFileLayers, createRunLayers, resolvePrecedence } from '../../src/settings/layers.ts';

function merge(sources: {
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
  profile?: Record<string, unknown>;
  file?: Record<string, unknown>;
}) {
  return resolvePrecedence([
    ...createRunLayers(sources.flags ?? {}, sources.env ?? {}),
    ...createFileLayers('c.json', sources.file ?? {}, { name: 'p', values: sources.profile ?? {} }),
  ]);
}

const [env, profile, file] = [{ FILINGS_JOBS: '2' }, { jobs: 3 }, { jobs: 4 }];
test.each`
  sources                                         | value  | source                       | sourceKind
  ${{ flags: { jobs: '1' }, env, profile, file }} | ${'1'} | ${'--jobs'}                  | ${'flag'}
  ${{ env, profile, file }}                       | ${'2'} | ${'FILINGS_JOBS'}            | ${'env'}
  ${{ env: { FILINGS_JOBS: '' }, profile, file }} | ${3}   | ${'c.json: profiles.p.jobs'} | ${'profile'}
  ${{ file }}                                     | ${4}   | ${'c.json: jobs'}            | ${'file'}
  ${{ profile: { jobs: null }, file }}            | ${'4'} | ${'default'}                 | ${'default'}
  ${{ env, profile: { jobs: null }, file }}       | ${'2'} | ${'FILINGS_JOBS'}            | ${'env'}
  ${{}}                                           | ${'4'} | ${'default'}                 | ${'default'}
`('from $sources, jobs is $value by $source', ({ sources, value, source, sourceKind }) => {
  expect(merge(sources).get('jobs')).toMatchObject({ value, source, sourceKind });
});

test.each`
  effect                                             | profile                              | file                         | kept
  ${'unsets the source that the top level names'}    | ${{ jwt: null }}                     | ${{ jwt: { keyFile: 'f' } }} | ${[]}
  ${'keeps another source of the same setting'}      | ${{ apiKey: null }}                  | ${{ apiKeyFile: 'f' }}       | ${['apiKeyFile']}
  ${'allows the profile to name another source'}     | ${{ apiKey: null, apiKeyFile: 'g' }} | ${{ apiKey: 'k' }}           | ${['apiKeyFile']}
  ${'changes nothing for a setting without a value'} | ${{ rate: null }}                    | ${{}}                        | ${[]}
`('null in a profile $effect', ({ profile, file, kept }) => {
  const sources = ['apiKey', 'apiKeyFile', 'jwt', 'rate'];
  expect(sources.filter((key) => merge({ profile, file }).has(key))).toEqual(kept);
});

describe('sources of the same setting', () => {
  const USAGE = { code: 'usage', hint: 'use only one of them' };
  const CONFIG = { code: 'config', hint: 'remove one of them from the config file' };
  test.each`
    sources                                                 | error     | message
    ${{ flags: { apiKey: 'k', apiKeyFile: 'f' } }}          | ${USAGE}  | ${'--api-key and --api-key-file: two sources of the API key'}
    ${{ file: { apiKey: 'k', apiKeyCommand: [] } }}         | ${CONFIG} | ${'c.json: apiKey and c.json: apiKeyCommand: two sources of the API key'}
    ${{ env: { FILINGS_JWT: 'j', FILINGS_JWT_FILE: 'f' } }} | ${USAGE}  | ${'FILINGS_JWT_FILE and FILINGS_JWT: two sources of the JWT'}
    ${{ file: { jwtFile: 'f', jwt: {} } }}                  | ${CONFIG} | ${'c.json: jwtFile and c.json: jwt: two sources of the JWT'}
  `('are refused in one layer: $sources', ({ sources, error, message }) => {
    expect(() => merge(sources)).toThrow(expect.objectContaining({ ...error, message }));
  });

  test('of a lower layer are all replaced by a higher one', () => {
    const values = merge({ flags: { apiKeyFile: 'f' }, env: { FILINGS_API_KEY: 'k' }, file: { apiKeyCommand: ['x'] } });
    expect(values.get('apiKeyFile')?.value).toBe('f');
    expect(values.has('apiKey') || values.has('apiKeyCommand')).toBe(false);
  });

  test('are not checked in a layer that is replaced', () => {
    expect(merge({ flags: { apiKey: 'k' }, file: { apiKey: 'a', apiKeyFile: 'b' } }).get('apiKey')?.value).toBe('k');
  });
});

describe('environment conventions for color', () => {
  test.each`
    env                                           | value       | source
    ${{ NO_COLOR: '1' }}                          | ${'never'}  | ${'NO_COLOR'}
    ${{ NO_COLOR: '' }}                           | ${'auto'}   | ${'c.json: color'}
    ${{ FORCE_COLOR: '1' }}                       | ${'always'} | ${'FORCE_COLOR'}
    ${{ FORCE_COLOR: '0' }}                       | ${'never'}  | ${'FORCE_COLOR'}
    ${{ CLICOLOR_FORCE: '1' }}                    | ${'always'} | ${'CLICOLOR_FORCE'}
    ${{ CLICOLOR_FORCE: '0' }}                    | ${'auto'}   | ${'c.json: color'}
    ${{ NO_COLOR: '1', FORCE_COLOR: '1' }}        | ${'never'}  | ${'NO_COLOR'}
    ${{ FILINGS_COLOR: 'always', NO_COLOR: '1' }} | ${'always'} | ${'FILINGS_COLOR'}
  `('turn $env into $value by $source', ({ env, value, source }) => {
    expect(merge({ env, file: { color: 'auto' } }).get('color')).toMatchObject({ value, source });
  });
});
