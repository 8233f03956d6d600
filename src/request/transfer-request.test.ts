import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { createHttpRequest, limits, refusalOf } from './http-request.fixture.ts';
import { exportQuerySchema } from './record-schemas.ts';
import { type ImportOptions, parseExportQuery, parseImportBody, parseImportQuery } from './transfer-request.ts';

const DEFAULTS: ImportOptions = { mode: 'create', key: undefined, dryRun: false, onError: 'stop', atomic: false, progress: false };

describe('parseImportQuery', () => {
  it.each([
    ['', {}],
    ['mode=upsert&key=slug', { mode: 'upsert', key: 'slug' }],
    ['mode=create', {}],
    ['dryRun=true&onError=skip', { dryRun: true, onError: 'skip' }],
    ['atomic=true', { atomic: true }],
    ['progress=true', { progress: true }],
    ['delimiter=%3B', { delimiter: ';' }],
    ['delimiter=tab', { delimiter: '\t' }],
    ['delimiter=%09', { delimiter: '\t' }],
    ['escape=false', { guardFormulas: false }],
  ])('parses the query "%s" of an import', (query, expected) => {
    const options = parseImportQuery(createHttpRequest({ query }));
    expect(options).toEqual({ ...DEFAULTS, delimiter: ',', guardFormulas: true, ...expected });
  });

  it.each<[string, readonly string[]]>([
    ['mode=merge', ['enum mode']],
    ['mode=merge&key=slug', ['enum mode']],
    ['mode=upsert', ['required key']],
    ['mode=upsert&key=', ['tooShort key']],
    ['key=slug', ['conflict key']],
    [`mode=upsert&key=${'x'.repeat(201)}`, ['tooLong key']],
    ['mode[a]=upsert', ['type mode']],
    ['onError=ignore', ['enum onError']],
    ['onError=skip&atomic=true', ['conflict atomic']],
    ['dryRun=1', ['type dryRun']],
    ['delimiter=x', ['enum delimiter']],
    ['delimiter=', ['enum delimiter']],
    ['escape=no', ['type escape']],
    ['onErorr=skip&mode=upsert', ['unknown onErorr', 'required key']],
  ])('refuses the query "%s" of an import', (query, mistakes) => {
    expect(refusalOf(() => parseImportQuery(createHttpRequest({ query })))).toEqual({ code: 'REQUEST_PARAMETER', mistakes });
  });
});

describe('parseImportBody', () => {
  const data = [{ a: 1 }];

  it.each<[Json, boolean, Partial<ImportOptions>]>([
    [{ data }, true, {}],
    [{ data, mode: 'upsert', key: 'slug' }, false, { mode: 'upsert', key: 'slug' }],
    [{ data, onError: 'skip' }, false, { onError: 'skip', atomic: false }],
    [{ data, atomic: false }, false, { atomic: false }],
    [{ data, progress: true }, false, { progress: true }],
  ])('parses the body of an import: %j', (body, isPlain, options) => {
    expect(parseImportBody(body, limits)).toEqual({ options: { ...DEFAULTS, atomic: true, ...options }, isPlain, rows: data });
  });

  it.each<[Json | undefined, readonly string[]]>([
    [undefined, ['required data']],
    [null, ['type ']],
    ['x', ['type ']],
    [{ data: [] }, ['tooFew data']],
    [{ data: {} }, ['type data']],
    [{ data: [{}, 1, null] }, ['type data.1', 'type data.2']],
    [{ data, mode: 1 }, ['type mode']],
    [{ data, dryRun: null }, ['type dryRun']],
    [{ data, dryRun: 'true' }, ['type dryRun']],
    [{ data, onError: 'skip', atomic: true }, ['conflict atomic']],
    [{ dta: data, mode: 'upsert' }, ['required data', 'unknown dta', 'required key']],
  ])('refuses the body of an import: %j', (body, mistakes) => {
    expect(refusalOf(() => parseImportBody(body, limits))).toEqual({ code: 'REQUEST_MALFORMED', mistakes });
  });

  it('refuses an import of more than importRows rows', () => {
    expect(refusalOf(() => parseImportBody({ data: Array(limits.importRows + 1).fill({}) }, limits))?.code).toBe('REQUEST_TOO_LARGE');
  });
});

describe('parseExportQuery', () => {
  const schema = exportQuerySchema(['csv', 'json']);
  const parse = (query: string) => parseExportQuery(createHttpRequest({ query }), schema);

  it('parses the format and the style of cells of an export', () => {
    expect(parse('format=csv&delimiter=tab&escape=false')).toEqual({ format: 'csv', delimiter: '\t', guardFormulas: false });
    expect(parse('')).toEqual({ format: undefined, delimiter: ',', guardFormulas: true });
  });

  it.each<[string, readonly string[]]>([
    ['format=xlsx', ['enum format']],
    ['format=', ['enum format']],
    ['formt=csv&escape=1', ['type escape', 'unknown formt']],
  ])('refuses the query "%s" of an export', (query, mistakes) => {
    const refusal = refusalOf(() => parse(query));
    expect(refusal && { ...refusal, mistakes: [...refusal.mistakes].sort() }).toEqual({ code: 'REQUEST_PARAMETER', mistakes });
  });
});
