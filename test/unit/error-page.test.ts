import { expect, test } from 'vitest';
import { chooseErrorTest, mediaTypeOf } from '../../src/service/error-response.ts';

const isError = (fileName: string, type: string, body: string) =>
  chooseErrorTest(fileName, mediaTypeOf({ 'content-type': type }))?.(Buffer.from(body)) ?? false;

const LONG = `{"error":"${'x'.repeat(65_000)}"}`;
const TOO_LONG = `{"error":"${'x'.repeat(65_536)}"}`;
test.each`
  fileName     | type                                | body
  ${'a.pdf'}   | ${'text/html'}                      | ${'<!doctype html><title>Log in</title>'}
  ${'a.PDF'}   | ${'Text/HTML; charset=utf-8'}       | ${'\ufeff \r\n\t<!DOCTYPE html>'}
  ${'a.xlsx'}  | ${'text/html'}                      | ${'<HTML lang="en">'}
  ${'a.xml'}   | ${'text/html'}                      | ${`${' '.repeat(2000)}<html>`}
  ${'a.htm'}   | ${'application/json'}               | ${'{"error":"denied"}'}
  ${'a.htm'}   | ${'application/json;charset=utf-8'} | ${'\ufeff {"message":null}'}
  ${'a.htm'}   | ${'application/json'}               | ${'{"title":"x","status":404}'}
  ${'a.htm'}   | ${'application/json'}               | ${'{"type":"about:blank","detail":"x","more":[]}'}
  ${'a'}       | ${'Application/JSON'}               | ${'{"Message":"Forbidden"}'}
  ${'x/a.xml'} | ${'application/json'}               | ${LONG}
`('the error under the name $fileName of type $type is recognized', ({ fileName, type, body }) => {
  expect(isError(fileName, type, body)).toBe(true);
});

test.each(['pdf', 'zip', 'xlsx', 'xml', 'xsd', 'json', 'jpg', 'gif', 'png'])(
  'HTML is an error as a.%s',
  (extension) => {
    expect(isError(`a.${extension}`, 'text/html', '<html>')).toBe(true);
  },
);

test.each`
  what                                        | fileName                  | type                              | body
  ${'HTML under a name that may be HTML'}     | ${'a.htm'}                | ${'text/html'}                    | ${'<!doctype html>'}
  ${'HTML under a name without an extension'} | ${'pdf'}                  | ${'text/html'}                    | ${'<html>'}
  ${'the rendering of an XML file'}           | ${'xslF345X05/form4.xml'} | ${'text/html'}                    | ${'<html>'}
  ${'HTML of another type'}                   | ${'a.pdf'}                | ${'application/xhtml+xml'}        | ${'<html>'}
  ${'a type that only begins alike'}          | ${'a.pdf'}                | ${'text/html5'}                   | ${'<html>'}
  ${'XML that is called HTML'}                | ${'a.xml'}                | ${'text/html'}                    | ${'<?xml version="1.0"?><html>'}
  ${'another document type'}                  | ${'a.xml'}                | ${'text/html'}                    | ${'<!doctype xbrl>'}
  ${'a file that is called HTML'}             | ${'a.pdf'}                | ${'text/html'}                    | ${'%PDF-1.7 <html>'}
  ${'an empty file'}                          | ${'a.pdf'}                | ${'text/html'}                    | ${''}
  ${'JSON under its own name'}                | ${'a.JSON'}               | ${'application/json'}             | ${'{"error":1}'}
  ${'one member of problem details'}          | ${'a.htm'}                | ${'application/json'}             | ${'{"title":"x"}'}
  ${'members inside others'}                  | ${'a.htm'}                | ${'application/json'}             | ${'{"data":{"error":1}}'}
  ${'a list'}                                 | ${'a.htm'}                | ${'application/json'}             | ${'[{"error":1}]'}
  ${'JSON that is cut'}                       | ${'a.htm'}                | ${'application/json'}             | ${'{"error":1'}
  ${'JSON of another type'}                   | ${'a.htm'}                | ${'application/problem+json-seq'} | ${'{"error":1}'}
  ${'JSON over 64 KiB'}                       | ${'a.htm'}                | ${'application/json'}             | ${TOO_LONG}
`('$what is a file', ({ fileName, type, body }) => {
  expect(isError(fileName, type, body)).toBe(false);
});
