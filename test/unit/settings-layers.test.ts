import { expect, test } from 'vitest';
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
  sources                                         | value  | setBy                        | sourceKind
  ${{ flags: { jobs: '1' }, env, profile, file }} | ${'1'} | ${'--jobs'}                  | ${'flag'}
  ${{ env, profile, file }}                       | ${'2'} | ${'FILINGS_JOBS'}            | ${'env'}
  ${{ env: { FILINGS_JOBS: '' }, profile, file }} | ${3}   | ${'c.json: profiles.p.jobs'} | ${'profile'}
  ${{ file }}                                     | ${4}   | ${'c.json: jobs'}            | ${'file'}
  ${{ profile: { jobs: null }, file }}            | ${'4'} | ${'default'}                 | ${'default'}
  ${{ env, profile: { jobs: null }, file }}       | ${'2'} | ${'FILINGS_JOBS'}            | ${'env'}
  ${{}}                                           | ${'4'} | ${'default'}                 | ${'default'}
`('from $sources, jobs is $value by $setBy', ({ sources, value, setBy, sourceKind }) => {
  expect(merge(sources).get('jobs')).toMatchObject({ value, setBy, sourceKind });
});

const layers = { flags: { apiKeyFile: 'f' }, env: { FILINGS_API_KEY: 'k' }, file: { apiKeyCommand: ['x'] } };
test.each`
  rule                                         | sources                                                                  | kept
  ${'null unsets what the top level names'}    | ${{ profile: { jwt: null }, file: { jwt: { keyFile: 'f' } } }}           | ${{}}
  ${'null keeps another source of the same'}   | ${{ profile: { apiKey: null }, file: { apiKeyFile: 'f' } }}              | ${{ apiKeyFile: 'f' }}
  ${'null allows the profile another source'}  | ${{ profile: { apiKey: null, apiKeyFile: 'g' }, file: { apiKey: 'k' } }} | ${{ apiKeyFile: 'g' }}
  ${'null changes nothing that has no value'}  | ${{ profile: { rate: null } }}                                           | ${{}}
  ${'one source replaces all of lower layers'} | ${layers}                                                                | ${{ apiKeyFile: 'f' }}
  ${'two sources in a layer that is replaced'} | ${{ flags: { apiKey: 'k' }, file: { apiKey: 'a', apiKeyFile: 'b' } }}    | ${{ apiKey: 'k' }}
`('of the sources of the same setting $kept remains: $rule', ({ sources, kept }) => {
  const merged = merge(sources);
  const values = ['apiKey', 'apiKeyFile', 'apiKeyCommand', 'jwt', 'rate'].map((key) => [key, merged.get(key)?.value]);
  expect(Object.fromEntries(values)).toEqual(kept);
});

const USAGE = { code: 'usage', hint: 'use only one of them' };
const CONFIG = { code: 'config', hint: 'remove one of them from the config file' };
test.each`
  sources                                                 | error     | message
  ${{ flags: { apiKey: 'k', apiKeyFile: 'f' } }}          | ${USAGE}  | ${'--api-key and --api-key-file: two sources of the API key'}
  ${{ file: { apiKey: 'k', apiKeyCommand: [] } }}         | ${CONFIG} | ${'c.json: apiKey and c.json: apiKeyCommand: two sources of the API key'}
  ${{ env: { FILINGS_JWT: 'j', FILINGS_JWT_FILE: 'f' } }} | ${USAGE}  | ${'FILINGS_JWT_FILE and FILINGS_JWT: two sources of the JWT'}
  ${{ file: { jwtFile: 'f', jwt: {} } }}                  | ${CONFIG} | ${'c.json: jwtFile and c.json: jwt: two sources of the JWT'}
`('sources of the same setting are refused in one layer: $sources', ({ sources, error, message }) => {
  expect(() => merge(sources)).toThrow(expect.objectContaining({ ...error, message }));
});

test.each`
  env                                           | value       | setBy
  ${{ NO_COLOR: '1' }}                          | ${'never'}  | ${'NO_COLOR'}
  ${{ NO_COLOR: '' }}                           | ${'auto'}   | ${'c.json: color'}
  ${{ FORCE_COLOR: '1' }}                       | ${'always'} | ${'FORCE_COLOR'}
  ${{ FORCE_COLOR: '0' }}                       | ${'never'}  | ${'FORCE_COLOR'}
  ${{ CLICOLOR_FORCE: '1' }}                    | ${'always'} | ${'CLICOLOR_FORCE'}
  ${{ CLICOLOR_FORCE: '0' }}                    | ${'auto'}   | ${'c.json: color'}
  ${{ NO_COLOR: '1', FORCE_COLOR: '1' }}        | ${'never'}  | ${'NO_COLOR'}
  ${{ FILINGS_COLOR: 'always', NO_COLOR: '1' }} | ${'always'} | ${'FILINGS_COLOR'}
`('the environment conventions for color turn $env into $value by $setBy', ({ env, value, setBy }) => {
  expect(merge({ env, file: { color: 'auto' } }).get('color')).toMatchObject({ value, setBy });
});
