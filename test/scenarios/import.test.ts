/** Imports: responses, stored records, and audit entries. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lines, type Sending, startTransferService, type TransferService } from './transfer-service.ts';

let transfer: TransferService;
beforeAll(async () => {
  transfer = await startTransferService({ importRows: 20, importBytes: 16_384, bodyBytes: 4096, jsonDepth: 16 });
});
afterAll(() => transfer.close());
beforeEach(async () => {
  for (const { id } of await transfer.parts()) await transfer.call('DELETE', `/api/Part/${id}`, { token: transfer.tokens.admin });
  await transfer.entries();
});

const codes = async (): Promise<readonly unknown[]> => (await transfer.parts()).map(({ code }) => code);
const part = (code: string, more: object = {}): object => ({ code, title: `Part ${code}`, ...more });
const IMPORT = { action: 'import', allowed: true };
const DENIED = { action: 'import', allowed: false };

describe('an import', () => {
  const record = { code: 'A', title: 'Bolt', stock: 7, price: '1.50', active: true, tags: ['x'], extra: { n: 1 }, made: '2026-01-31' };
  it.each<[string, string, Sending]>([
    ['CSV', 'code,title,stock,price,tags,extra,made\r\nA,Bolt,7,1.50,"[""x""]","{""n"":1}",2026-01-31\r\n', {}],
    [
      'CSV with semicolons',
      'code;title;stock;price;tags;extra;made\nA;Bolt;7;1.5;"[""x""]";"{""n"":1}";2026-01-31',
      { query: 'delimiter=;' },
    ],
    [
      'CSV with tabs',
      'code\ttitle\tstock\tprice\ttags\textra\tmade\nA\tBolt\t7\t1.5\t"[""x""]"\t"{""n"":1}"\t2026-01-31',
      { query: 'delimiter=tab' },
    ],
    ['NDJSON', lines({ ...record, price: 1.5 }), {}],
    ['a JSON array', JSON.stringify([record]), {}],
    ['the JSON object', JSON.stringify({ data: [record], onError: 'skip' }), { type: 'application/json' }],
  ])('accepts an import of %s', async (_, file, sending) => {
    const reply = await transfer.send(file, sending);
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { success: true, data: { imported: 1, updated: 0, unchanged: 0, rejected: 0 }, rejections: [] },
    ]);
    expect(await transfer.parts()).toMatchObject([record]);
    const entries = await transfer.entries();
    expect(entries).toMatchObject([IMPORT]);
    expect(reply.headers['x-decision-id']).toBe(entries[0]?.['id']);
  });

  it('returns the created records of an imported JSON object without options', async () => {
    const reply = await transfer.send(JSON.stringify({ data: [part('A'), part('B')] }), { type: 'application/json' });
    expect([reply.status, reply.at('count'), reply.at('data.1') !== undefined]).toEqual([201, 2, true]);
    expect(await transfer.entries()).toMatchObject([IMPORT, IMPORT]);
  });

  it('stores each row of an import with its own audit entry', async () => {
    const reply = await transfer.send(lines(...Array.from({ length: 120 }, (_, index) => part(`P${index}`))));
    expect(reply.at('data.imported')).toBe(120);
    expect(await transfer.parts()).toHaveLength(120);
    expect(await transfer.entries()).toHaveLength(120);
  });

  it('parses the cells of write-only fields by their types', async () => {
    const reply = await transfer.send('code,title,pins\nA,Bolt,"[1,2]"\n');
    expect([reply.status, reply.at('data.imported')], reply.text).toEqual([200, 1]);
  });

  it('accepts an import without rows', async () => {
    const reply = await transfer.send('[]');
    expect([reply.status, reply.at('data.imported')]).toEqual([200, 0]);
  });

  it('ignores the fields of an import that the service sets', async () => {
    await transfer.send(lines(part('A', { id: 'x', version: 9, createdBy: 'someone', createdAt: '2000-01-01T00:00:00.000Z' })));
    const [stored] = await transfer.parts();
    expect(stored).toMatchObject({ code: 'A', version: 1 });
    expect(stored?.['createdBy']).not.toBe('someone');
    expect(stored?.['id']).not.toBe('x');
  });
});

describe('an import by a caller without permission', () => {
  it.each<[string, Sending]>([
    ['for an anonymous caller', { as: 'anon' }],
    ['for a user whom no rule allows', { as: 'uwe' }],
  ])('denies an import before a row is read, with one audit entry: %s', async (_, sending) => {
    // The body is not JSON, so that a service which reads it first returns 400.
    const reply = await transfer.send('{"not json', sending);
    expect([reply.status, reply.at('code'), reply.headers['x-decision-id']]).toMatchObject([403, 'ACCESS_DENIED', expect.any(String)]);
    expect(await transfer.entries()).toMatchObject([{ ...DENIED, id: reply.at('decisionId') }]);
  });

  it('decides an import row by row if conditions depend on the rows', async () => {
    const data = [{ field: 'request.data.code', operator: 'startsWith', value: 'OK' }];
    const policy = await transfer.createPolicy({
      role: 'user',
      rules: [
        { resource: 'Part', action: 'import' },
        { resource: 'Part', action: 'import', effect: 'DENY', priority: 900, conditions: [{ not: data[0] }] },
      ],
    });
    const reply = await transfer.send(lines(part('OK1'), part('NO'), part('OK2')), { as: 'uwe', query: 'onError=skip' });
    await transfer.call('DELETE', `/admin/api/policies/${policy}`, { token: transfer.tokens.admin });
    expect([reply.status, reply.at('data'), reply.at('rejections.0.row')]).toMatchObject([200, { imported: 2, rejected: 1 }, 2]);
  });

  it('does not reveal the mistakes of a denied row', async () => {
    const reply = await transfer.send(lines({ code: 'A', titel: 1, owner: 'unknown' }), { as: 'max' });
    expect([reply.status, reply.at('errors')]).toEqual([403, undefined]);
  });
});

describe('a rejected row', () => {
  const mine = (code: string): object => part(code, { owner: transfer.ids.max });

  it('stops an import at a rejected row; earlier rows stay stored, and the response counts them', async () => {
    const reply = await transfer.send(lines(mine('A'), mine('B'), part('C'), mine('D')), { as: 'max' });
    expect([reply.status, reply.body]).toMatchObject([
      403,
      {
        code: 'ACCESS_DENIED',
        data: { imported: 2, updated: 0, unchanged: 0, rejected: 1, lastRow: 3 },
      },
    ]);
    expect(await codes()).toEqual(['A', 'B']);
    const entries = await transfer.entries();
    expect(entries).toMatchObject([IMPORT, IMPORT, DENIED]);
    expect(reply.at('decisionId')).toBe(entries[2]?.['id']);
  });

  it('skips a rejected row with onError=skip, and lists it with its reason', async () => {
    const file = lines(mine('A'), part('B'), mine('A'), { ...mine('C'), stock: -1 }).concat('{"broken\n\n', lines(mine('D')));
    const reply = await transfer.send(file, { as: 'max', query: 'onError=skip' });
    const entries = await transfer.entries();
    expect([reply.status, reply.body]).toMatchObject([
      200,
      {
        data: { imported: 2, rejected: 4 },
        rejections: [
          { row: 2, code: 'ACCESS_DENIED', decisionId: entries[1]?.['id'] },
          { row: 3, code: 'RECORD_EXISTS', errors: [{ path: 'code', code: 'taken' }] },
          { row: 4, code: 'VALUE_INVALID', errors: [{ path: 'stock', code: 'range' }] },
          { row: 5, code: 'REQUEST_MALFORMED' },
        ],
      },
    ]);
    expect(await codes()).toEqual(['A', 'D']);
    expect(entries).toMatchObject([
      IMPORT,
      DENIED,
      { ...IMPORT, outcome: 'RECORD_EXISTS' },
      { ...IMPORT, outcome: 'VALUE_INVALID' },
      IMPORT,
    ]);
  });

  it('returns each rejected row as a line of an NDJSON response, and the summary as the last line', async () => {
    const rows = Array.from({ length: 150 }, (_, index) => part(`P${index}`, { stock: -1 }));
    const reply = await transfer.send(lines(...rows, part('A')), { query: 'onError=skip', headers: { accept: 'application/x-ndjson' } });
    const received = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(reply.headers['content-type']).toBe('application/x-ndjson');
    expect(received).toHaveLength(151);
    expect([received[0], received[149], received[150]]).toMatchObject([
      { row: 1 },
      { row: 150 },
      { success: true, data: { imported: 1, rejected: 150 } },
    ]);
    const listed = await transfer.send(lines(...rows), { query: 'onError=skip' });
    expect([(listed.at('rejections') as []).length, listed.at('data.rejected')]).toEqual([100, 150]);
  });

  it('returns the row that stops an import as the last line but one of a streamed response', async () => {
    const file = lines(part('A', { stock: -1 })).concat(lines(part('B')), '\xff');
    const reply = await transfer.call('POST', '/api/Part/import?onError=skip', {
      token: transfer.tokens.admin,
      raw: file.slice(0, -1).concat('{"code":"C"'),
      headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' },
    });
    const received = reply.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([reply.status, received.map(({ row }) => row)]).toEqual([200, [1, 3, undefined]]);
  });

  it('stops an atomic import at a rejected row, and stores no row', async () => {
    const reply = await transfer.send(lines(part('A'), part('B'), part('A')), { query: 'atomic=true' });
    expect([reply.status, reply.body]).toMatchObject([409, { code: 'RECORD_EXISTS', data: { imported: 0, rejected: 1, lastRow: 3 } }]);
    expect(await codes()).toEqual([]);
    expect(await transfer.entries()).toMatchObject([
      { ...IMPORT, outcome: 'IMPORT_UNDONE' },
      { ...IMPORT, outcome: 'IMPORT_UNDONE' },
      { ...IMPORT, outcome: 'RECORD_EXISTS' },
    ]);
  });
});

describe('an atomic import', () => {
  it('stores all rows of an atomic import', async () => {
    expect((await transfer.send(lines(part('A'), part('B')), { query: 'atomic=true' })).at('data.imported')).toBe(2);
    expect(await codes()).toEqual(['A', 'B']);
  });

  it('refuses an atomic import with more than the maximum number of rows', async () => {
    const reply = await transfer.send(lines(...Array.from({ length: 21 }, (_, index) => part(`P${index}`))), { query: 'atomic=true' });
    expect([reply.status, reply.at('code')]).toEqual([413, 'REQUEST_TOO_LARGE']);
    expect(reply.at('detail')).toContain('20 rows');
    expect(await codes()).toEqual([]);
  });

  it('refuses an atomic import above the maximum size', async () => {
    const notes = 'x'.repeat(3_000);
    const reply = await transfer.send(lines(...['A', 'B', 'C', 'D', 'E', 'F'].map((code) => part(code, { notes }))), {
      query: 'atomic=true',
    });
    expect([reply.status, reply.at('code')]).toEqual([413, 'REQUEST_TOO_LARGE']);
    expect(reply.at('detail')).toContain('16384 characters');
    expect(await codes()).toEqual([]);
  });
});

describe('a dry run', () => {
  it('decides and validates the rows of a dry run, and stores nothing', async () => {
    const reply = await transfer.send(lines(part('A'), part('B', { stock: -1 })), { query: 'dryRun=true&onError=skip' });
    expect([reply.status, reply.body]).toMatchObject([
      200,
      {
        data: { imported: 1, rejected: 1, dryRun: true },
        rejections: [{ row: 2 }],
      },
    ]);
    expect(await codes()).toEqual([]);
    expect(await transfer.entries()).toMatchObject([
      { ...IMPORT, outcome: 'IMPORT_UNDONE' },
      { ...IMPORT, outcome: 'VALUE_INVALID' },
    ]);
  });

  it('stops a dry run at the row at which the import would stop', async () => {
    await transfer.send(lines(part('A')));
    const reply = await transfer.send(lines(part('B'), part('A'), part('C')), { query: 'dryRun=true' });
    expect([reply.status, reply.at('data')]).toMatchObject([409, { rejected: 1, lastRow: 2 }]);
    expect(await codes()).toEqual(['A']);
  });

  it('finds two rows with the same unique value in a dry run of an atomic import', async () => {
    const reply = await transfer.send(lines(part('A'), part('A')), { query: 'dryRun=true&atomic=true' });
    expect([reply.status, reply.at('data')]).toMatchObject([409, { rejected: 1, lastRow: 2 }]);
    expect(await codes()).toEqual([]);
  });
});

describe('upsert', () => {
  const upsert = { query: 'mode=upsert&key=code' };

  it('updates the records that have the key of an upsert, and creates the others', async () => {
    await transfer.send(lines(part('A', { stock: 1, notes: 'kept' }), part('B', { stock: 2 })));
    await transfer.entries();
    const reply = await transfer.send('code,title,stock,notes\nA,Changed,5,\nB,Part B,2,\nC,New,3,\n', upsert);
    expect(reply.body).toMatchObject({ data: { imported: 1, updated: 1, unchanged: 1, rejected: 0 } });
    expect(await transfer.parts()).toMatchObject([
      { code: 'A', title: 'Changed', stock: 5, notes: 'kept', version: 2 },
      { code: 'B', version: 1 },
      { code: 'C', version: 1 },
    ]);
    const update = { action: 'update', allowed: true };
    expect(await transfer.entries()).toMatchObject([IMPORT, update, IMPORT, update, IMPORT]);
  });

  it('clears a field with null in an upsert', async () => {
    await transfer.send(lines(part('A', { stock: 1 })));
    await transfer.send(lines({ code: 'A', stock: null }), upsert);
    expect(await transfer.parts()).toMatchObject([{ code: 'A', stock: null }]);
  });

  it('does not update records by an upsert for a user who may only import', async () => {
    await transfer.send(lines(part('A')));
    await transfer.entries();
    const reply = await transfer.send(lines(part('A', { title: 'Mine now' }), part('B')), {
      as: 'ina',
      query: `${upsert.query}&onError=skip`,
    });
    expect(reply.body).toMatchObject({ data: { imported: 1, rejected: 1 }, rejections: [{ row: 1, code: 'ACCESS_DENIED' }] });
    expect(await transfer.parts()).toMatchObject([{ code: 'A', title: 'Part A' }, { code: 'B' }]);
    expect(await transfer.entries()).toMatchObject([IMPORT, { action: 'update', allowed: false }, IMPORT]);
  });

  it('decides an upsert on the record before and after the update, so that its owner cannot be changed', async () => {
    await transfer.send(lines(part('A'), part('B', { owner: transfer.ids.max })));
    const taken = await transfer.send(lines({ code: 'A', owner: transfer.ids.max }), { as: 'max', ...upsert });
    const given = await transfer.send(lines({ code: 'B', owner: null }), { as: 'max', ...upsert });
    expect([taken.status, given.status]).toEqual([403, 403]);
    expect(await transfer.parts()).toMatchObject([{ owner: null }, { owner: transfer.ids.max }]);
  });

  it('decides an upsert on both versions of the record for a user who may import any record', async () => {
    await transfer.send(lines(part('A', { owner: transfer.ids.ina, stock: 1 }), part('B')));
    const given = await transfer.send(lines({ code: 'A', owner: null }), { as: 'ina', ...upsert });
    const taken = await transfer.send(lines({ code: 'B', owner: transfer.ids.ina }), { as: 'ina', ...upsert });
    const hers = await transfer.send(lines({ code: 'A', stock: 2 }), { as: 'ina', ...upsert });
    expect([given.status, taken.status, hers.status]).toEqual([403, 403, 200]);
    expect(await transfer.parts()).toMatchObject([{ owner: transfer.ids.ina, stock: 2 }, { owner: null }]);
  });

  it('finds the key of an upsert in another case', async () => {
    await transfer.send(lines(part('A', { maker: 'maker@example.com' })));
    const reply = await transfer.send(lines({ maker: 'Maker@Example.com', stock: 3 }), { query: 'mode=upsert&key=maker' });
    expect(reply.body).toMatchObject({ data: { updated: 1 } });
  });

  it.each<[string, string]>([
    ['csv', 'code,title,maker\nA,Part A,Maker@Example.com\n'],
    ['ndjson', lines(part('A', { maker: 'Maker@Example.com' }))],
  ])('accepts the same file twice in an upsert, also with an immutable value in another form: %s', async (_, file) => {
    await transfer.send(file, upsert);
    expect((await transfer.send(file, upsert)).body).toMatchObject({ data: { imported: 0, updated: 0, unchanged: 1 } });
  });

  it.each(['csv', 'ndjson', 'json'])(
    'accepts an exported file in an upsert by id, also without a value of an immutable field: %s',
    async (format) => {
      await transfer.send(lines(part('A', { maker: 'maker@example.com' }), part('B')));
      const file = (await transfer.fetch(`format=${format}`)).text;
      const back = await transfer.send(file.replace('Part B', 'Changed'), { query: 'mode=upsert&key=id' });
      expect(back.body).toMatchObject({ data: { imported: 0, updated: 1, unchanged: 1 } });
    },
  );

  it('rejects an unknown id in an upsert by id', async () => {
    await transfer.send(lines(part('A')));
    const unknown = await transfer.send(lines({ ...part('C'), id: '018f0000-0000-7000-8000-000000000000' }), {
      query: 'mode=upsert&key=id',
    });
    expect([unknown.status, unknown.at('code'), await codes()]).toEqual([404, 'RECORD_UNKNOWN', ['A']]);
  });

  it.each([
    ['mode=upsert', 400, 'REQUEST_PARAMETER'],
    ['key=code', 400, 'REQUEST_PARAMETER'],
    ['mode=upsert&key=title', 400, 'REQUEST_PARAMETER'],
    ['mode=upsert&key=secret', 400, 'REQUEST_FIELD'],
    ['mode=upsert&key=constructor', 400, 'REQUEST_FIELD'],
    ['mode=replace', 400, 'REQUEST_PARAMETER'],
    ['atomic=true&onError=skip', 400, 'REQUEST_PARAMETER'],
    ['dryrun=true', 400, 'REQUEST_PARAMETER'],
    ['delimiter=%7C', 400, 'REQUEST_PARAMETER'],
  ])('rejects invalid or inconsistent parameters of an import: %s', async (query, status, code) => {
    const reply = await transfer.send(lines(part('A')), { query });
    expect([reply.status, reply.at('code')]).toEqual([status, code]);
    expect(await codes()).toEqual([]);
  });
});

describe('a body with data', () => {
  it('refuses parameters in the query beside a body with data, and says where options belong', async () => {
    const file = JSON.stringify({ data: [part('A')] });
    const reply = await transfer.send(file, { query: 'mode=upsert&key=code', type: 'application/json' });
    const detail = 'expected options as members beside `data`; or send the array alone, with the options in the query';
    const mistake = { code: 'conflict', detail };
    expect(reply.status).toBe(400);
    expect(reply.at('errors')).toEqual([
      { path: 'mode', ...mistake },
      { path: 'key', ...mistake },
    ]);
  });
});

describe('users', () => {
  it('imports users with passwords that work for a login', async () => {
    const file = 'name,email,password\nAnn,ann@example.com,a long password\nBo,bo@example.com,another password\n';
    const reply = await transfer.send(file, { resource: 'User' });
    expect(reply.at('data.imported')).toBe(2);
    expect(await transfer.logIn('ann@example.com', 'a long password')).toBeTruthy();
    expect(await transfer.logIn('bo@example.com', 'another password')).toBeTruthy();
  });
});

describe('an invalid file', () => {
  it.each<[string, string, Sending, number, string]>([
    ['another type', '<a/>', { type: 'text/xml' }, 415, 'expected a body of type application/x-ndjson, text/csv, application/json'],
    ['another charset', 'code\nA', { type: 'text/csv; charset=latin1' }, 415, 'expected a body in UTF-8, given another charset'],
    ['compression', 'code\nA', { headers: { 'content-encoding': 'gzip' } }, 415, 'expected a body without content-encoding'],
    ['a header that names no fields', 'a,b\n1,2', {}, 400, 'the header has 2 mistakes; nothing was stored'],
    [
      'half an array',
      '[{"code":"A","title":"a"},{',
      {},
      400,
      'the array in the body is incomplete: it has no closing bracket; before this, 1 row was imported and 0 updated; these changes are kept',
    ],
    ['a JSON text', '"x"', { type: 'application/json' }, 400, 'expected an object with data, given text'],
    ['nothing', '', { type: 'application/json' }, 400, 'data: expected a value, given none'],
    [
      'a dry run that is neither true nor false',
      '{"data":[{"code":"A"}],"dryRun":null}',
      { type: 'application/json' },
      400,
      'dryRun: expected true or false, given null',
    ],
  ])('describes why a file is invalid: %s', async (_, file, sending, status, detail) => {
    const reply = await transfer.send(file, sending);
    expect([reply.status, reply.at('detail')]).toEqual([status, detail]);
  });
});
