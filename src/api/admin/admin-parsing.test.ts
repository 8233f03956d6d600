import { describe, expect, it } from 'vitest';
import { createHttpRequest, refusalOf } from '../../request/http-request.fixture.ts';
import type { HttpRequest } from '../../request/index.ts';
import { parseAccept } from '../../transfer/index.ts';
import {
  type PolicyUpload,
  parseChangeCursor,
  parseIdCursor,
  parsePolicyCursor,
  parsePolicyImportBody,
  toChangeCursor,
  toIdCursor,
  toPolicyCursor,
  wantsLines,
  withLines,
} from './admin-parsing.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const BOUNDS = { importBounds: { bodyBytes: 1000, streamBytes: 1000, rowLength: 100, depth: 4 }, importPolicies: 10 };
const LARGER = { ...BOUNDS, importBounds: { ...BOUNDS.importBounds, bodyBytes: 1_000_000 } };

const encode = (text: string): string => Buffer.from(text).toString('base64url');

describe('a cursor of ids', () => {
  it('a cursor of ids is parsed for the list that returned it', () => {
    expect(parseIdCursor('user', toIdCursor('user', ID))).toBe(ID);
  });

  it.for([toIdCursor('policy', ID), encode(`user ${ID} more`), encode('user x'), 'no cursor', ''])(
    'a list of users refuses the cursor "%s"',
    (cursor) => {
      expect(refusalOf(() => parseIdCursor('user', cursor))?.code).toBe('REQUEST_CURSOR');
    },
  );
});

describe('a cursor of policies', () => {
  it.for([
    ['id', { id: ID }],
    ['name', { id: ID, key: 'Editors' }],
    ['-priority', { id: ID, key: 900 }],
  ] as const)('a cursor of policies in the order %s is parsed for the same order', ([order, position]) => {
    expect(parsePolicyCursor(order, toPolicyCursor(order, position))).toEqual(position);
  });

  it.for([
    ['another order', toPolicyCursor('name', { id: ID, key: 'Editors' })],
    ['a key of another type', encode(JSON.stringify(['policies', '-priority', ID, 'high']))],
    ['a key that no column can hold', encode(JSON.stringify(['policies', '-priority', ID, 2 ** 40]))],
    ['an id with a NUL character', encode(JSON.stringify(['policies', '-priority', 'a\0b', 1]))],
    ['a further member', encode(JSON.stringify(['policies', '-priority', ID, 1, 2]))],
    ['an object', encode('{}')],
    ['text that is not JSON', encode('[')],
  ] as const)('a list of policies refuses a cursor with %s', ([, cursor]) => {
    expect(refusalOf(() => parsePolicyCursor('-priority', cursor))?.code).toBe('REQUEST_CURSOR');
  });
});

describe('a cursor of changes', () => {
  it('a cursor of changes is parsed to its revision and id', () => {
    expect(parseChangeCursor(toChangeCursor({ revision: 42, id: ID }))).toEqual({ revision: 42, id: ID });
  });

  it.for([encode(`change -1 ${ID}`), encode(`change ${'9'.repeat(16)} ${ID}`), toIdCursor('policy', ID)])(
    'a list of changes refuses the cursor "%s"',
    (cursor) => {
      expect(refusalOf(() => parseChangeCursor(cursor))?.code).toBe('REQUEST_CURSOR');
    },
  );
});

/** Creates an upload whose bytes arrive in two pieces. */
function uploadWith(text: string, mediaType: string | undefined): PolicyUpload {
  const bytes = Buffer.from(text);
  const half = Math.floor(bytes.length / 2);
  async function* send() {
    yield bytes.subarray(0, half);
    yield bytes.subarray(half);
  }
  return { mediaType, bytes: send() };
}

describe('the body of an import of policies', () => {
  it.for([
    ['a JSON object as it is', '{"policies":[{"a":1}]}', undefined],
    ['a JSON array as the list', '[{"a":1}]', 'application/json'],
  ] as const)('an import takes %s', async ([, text, type]) => {
    expect(await parsePolicyImportBody(BOUNDS, 'policies', uploadWith(text, type))).toEqual({ body: { policies: [{ a: 1 }] } });
  });

  it('an import takes one policy of each line of NDJSON, with its number', async () => {
    const upload = uploadWith('{"a":1}\n\n{"a":2}\n', 'application/x-ndjson');
    expect(await parsePolicyImportBody(BOUNDS, 'policies', upload)).toEqual({ body: { policies: [{ a: 1 }, { a: 2 }] }, lines: [1, 3] });
  });

  it('an import names each line that is not JSON', async () => {
    const parsed = parsePolicyImportBody(BOUNDS, 'policies', uploadWith('{\n{"a":2}\n[', 'application/x-ndjson'));
    await expect(parsed).rejects.toMatchObject({
      code: 'REQUEST_MALFORMED',
      extras: {
        errors: [
          { path: 'policies.0', row: 1 },
          { path: 'policies.2', row: 3 },
        ],
      },
    });
  });

  it('an import of NDJSON ends at the first item too many, without the rest of the body', async () => {
    let lines = 0;
    async function* send() {
      for (; ; lines++) yield Buffer.from('{}\n');
    }
    const upload = { mediaType: 'application/x-ndjson', bytes: send() };
    const expected = { code: 'POLICY_INVALID', extras: { errors: [{ path: 'policies', code: 'tooMany' }] } };
    await expect(parsePolicyImportBody(LARGER, 'policies', upload)).rejects.toMatchObject(expected);
    expect(lines).toBe(BOUNDS.importPolicies);
  });

  it.for([
    ['list', '['],
    ['member', '{"policies":['],
  ] as const)('an import of JSON ends at the first item too many of the %s', async ([, start]) => {
    // If it went on, it would find that the text is not JSON.
    const upload = uploadWith(`${start}${'[],'.repeat(20_000)}?`, 'application/json');
    const expected = { code: 'POLICY_INVALID', extras: { errors: [{ path: 'policies', code: 'tooMany' }] } };
    await expect(parsePolicyImportBody(LARGER, 'policies', upload)).rejects.toMatchObject(expected);
  });

  it.for(['text/csv', 'text/plain'])('an import refuses the type %s', async (type) => {
    await expect(parsePolicyImportBody(BOUNDS, 'policies', uploadWith('a', type))).rejects.toMatchObject({ code: 'REQUEST_MEDIA_TYPE' });
  });
});

describe('withLines', () => {
  const issue = (path: string) => ({ path, code: 'type', detail: 'no' }) as const;

  it('adds the line of the item to each mistake in an item', () => {
    expect(withLines([issue('policies.1.name'), issue('other.1'), issue('policies.7')], 'policies', [1, 3])).toEqual([
      { ...issue('policies.1.name'), row: 3 },
      issue('other.1'),
      issue('policies.7'),
    ]);
  });

  it('leaves the mistakes of a JSON body as they are', () => {
    expect(withLines([issue('policies.1')], 'policies', undefined)).toEqual([issue('policies.1')]);
  });
});

describe('wantsLines', () => {
  const accepting = (accept: string): HttpRequest => ({
    ...createHttpRequest({}),
    header: (name) => (name === 'accept' ? accept : undefined),
  });

  it.for([
    ['application/x-ndjson', undefined, true],
    ['application/json', undefined, false],
    ['application/json, application/x-ndjson;q=0.5', undefined, false],
    ['application/json;q=0.5, application/x-ndjson', undefined, true],
    ['text/csv, application/x-ndjson;q=0.5', undefined, true],
    ['application/x-ndjson;Q=0.000', undefined, false],
    ['application/x-ndjson', 'json', false],
    ['application/json', 'ndjson', true],
  ] as const)('a response to Accept %s and the format %s has lines: %s', ([accept, format, expected]) => {
    expect(wantsLines(parseAccept(accepting(accept)), format)).toBe(expected);
  });
});
