import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Format } from './format.ts';
import { read, resource } from './formats.fixture.ts';
import { createWriter } from './write-rows.ts';

describe('written files', () => {
  const records: readonly JsonObject[] = [
    { title: '=1+1', amount: '-3.50', views: -7, open: true, tags: ['a', '-b'], extra: null },
    { title: 'a "b",\nc ', amount: null, views: null, open: false, tags: null, extra: '@x' },
    { title: "'-", amount: null, views: null, open: null, tags: [], extra: -1 },
  ];
  const fields = [...resource.fields.values()].filter(({ name, readOnly, writeOnly }) => !readOnly && !writeOnly && name !== 'id');
  const write = (format: Format, pages: readonly (readonly JsonObject[])[], guardFormulas = true, delimiter = ','): string => {
    const writer = createWriter({ format, fields, delimiter, guardFormulas });
    return writer.begin() + pages.map((page) => writer.rows(page)).join('') + writer.end();
  };

  it('reads written files back with the same values', async () => {
    const stripped = records.map((record) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null)));
    for (const delimiter of [',', ';', '\t']) {
      const rows = await read('csv', write('csv', [records.slice(0, 1), [], records.slice(1)], true, delimiter), { delimiter });
      expect(rows.map((row) => row[1])).toEqual(stripped);
    }
    for (const format of ['ndjson', 'json'] as const)
      expect((await read(format, write(format, [records.slice(0, 2), records.slice(2)]))).map((row) => row[1])).toEqual(records);
  });

  it('written files guard texts that are formulas, and no numbers', () => {
    expect(write('csv', [records])).toBe(
      [
        'title,amount,views,open,tags,extra',
        `'=1+1,-3.50,-7,true,"[""a"",""-b""]",`,
        `"a ""b"",\nc ",,,false,,"'""@x"""`,
        `''-,,,,[],'-1`,
        '',
      ].join('\r\n'),
    );
    expect(write('csv', [records.slice(0, 1)], false)).toContain('\r\n=1+1,');
  });

  it.each(['+1', '-1', '@SUM(A1)', '\tx', '\rx', ' =1', '\n=1', "''=1", `' "=1`, '\u00a0=1', '\uff1d1'])(
    'written files guard %j',
    async (title) => {
      const text = write('csv', [[{ title }]]);
      expect(text).toContain(`'${title.replaceAll('"', '""')}`);
      expect((await read('csv', text)).map((row) => row[1])).toEqual([{ title }]);
    },
  );

  it('reads written files back unchanged for any beginning of a text', async () => {
    const beginning = fc.string({
      unit: fc.constantFrom("'", '"', ' ', '\t', '\r', '\n', '=', '-', '\uff0b', 'a', ','),
      minLength: 1,
      maxLength: 6,
    });
    const check = fc.asyncProperty(beginning, async (title) => {
      expect((await read('csv', write('csv', [[{ title }]]))).map((row) => row[1])).toEqual([{ title }]);
    });
    await fc.assert(check, { numRuns: casesOf(100) });
  });

  it('written files are complete without a record', () => {
    expect([write('json', []), write('json', [[], []]), write('ndjson', []), write('csv', [])]).toEqual([
      '[\n]\n',
      '[\n]\n',
      '',
      'title,amount,views,open,tags,extra\r\n',
    ]);
  });
});
