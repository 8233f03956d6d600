import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadRecord } from '../../storage/index.ts';
import { codeOf, inShort, openPipeline, type TestPipeline, type TestRequest } from '../pipeline.fixture.ts';
import type { Decided, RequestContext } from '../request-context.ts';
import { describe as describeStep, projectEach, projectionFor, show } from './project-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        fields: {
          title: { type: 'string' },
          secret: { type: 'string', writeOnly: true },
          authorId: { type: 'reference', to: 'User', onDelete: 'setNull' },
          readerIds: { type: 'list', of: { type: 'reference', to: 'User', onDelete: 'setNull' } },
        },
      },
      Comment: { fields: { articleId: { type: 'reference', to: 'Article', onDelete: 'cascade' } } },
    },
    records: { Article: { a1: { title: 'one', secret: 'hush', authorId: 'ann', readerIds: ['ann', 'ben'] } } },
  });
});
afterAll(() => test.dispose());

const inRead = <T>(more: Partial<TestRequest>, work: (context: RequestContext) => Promise<T>, expandMax = 100): Promise<T> =>
  test.inContext({ as: 'ada', request: { action: 'read', resource: 'Article', id: 'a1', ...more }, options: { expandMax } }, work);

async function decidedOf(context: RequestContext): Promise<Decided> {
  const record = await loadRecord(context.tx, context.resource, 'a1');
  return { found: record === undefined ? [] : [record], proposals: [], decision: { effect: 'allow' } as never };
}

describe('a shown record', () => {
  it('a shown record has its version and every field but the write-only ones', async () => {
    await inRead({}, async (context) => {
      const { status, version, data } = await show(context, await decidedOf(context));
      expect([status, version]).toEqual([200, 1]);
      expect(data).toMatchObject({ id: 'a1', title: 'one', authorId: 'ann', readerIds: ['ann', 'ben'] });
      expect(data).not.toHaveProperty('secret');
      expect(data).not.toHaveProperty('expand');
    });
  });

  it('a shown record has the requested fields and its id', async () => {
    await inRead({ fields: ['title'] }, async (context) => {
      expect((await show(context, await decidedOf(context))).data).toEqual({ id: 'a1', title: 'one' });
    });
  });

  it('a shown record has expanded records, also of references that are not shown', async () => {
    await inRead({ fields: ['title'], expand: [{ name: 'authorId' }] }, async (context) => {
      const { data } = await show(context, await decidedOf(context));
      expect(data).toMatchObject({ id: 'a1', title: 'one', expand: { authorId: { id: 'ann' } } });
      expect(inShort(context.entries)).toEqual(['allow read User ann']);
    });
  });

  it.each<[string, Partial<TestRequest>, string]>([
    ['an unknown field', { fields: ['titel'] }, 'REQUEST_FIELD fields.titel:field'],
    ['a write-only field, like an unknown one', { fields: ['secret'] }, 'REQUEST_FIELD fields.secret:field'],
    ['an unknown expansion', { expand: [{ name: 'autorId' }] }, 'REQUEST_FIELD expand.autorId:field'],
  ])('a request for %s is refused', async (_, more, code) => {
    await inRead(more, async (context) => expect(await codeOf(show(context, await decidedOf(context)))).toBe(code));
  });
});

it('the description lists the fields of the resource', async () => {
  await inRead({ action: 'schema' }, async (context) => {
    const { status, data } = await describeStep(context);
    expect(status).toBe(200);
    expect(JSON.stringify(data)).toContain('readerIds');
  });
});

describe('the number of records to expand', () => {
  const comments = { name: 'comments', by: { resource: 'Comment', field: 'articleId', limit: 10 } };
  const refused = 'REQUEST_PARAMETER expand:tooMany';

  it.each<[string, Partial<TestRequest>, number, number, string | undefined]>([
    ['a reference of each record counts as one', { expand: [{ name: 'authorId' }] }, 5, 5, undefined],
    ['a reference above the limit is refused', { expand: [{ name: 'authorId' }] }, 6, 5, refused],
    ['referencing records count by their limit', { expand: [comments] }, 2, 20, undefined],
    ['referencing records above the limit are refused', { expand: [comments] }, 2, 19, refused],
    ['all expansions count together', { expand: [{ name: 'authorId' }, comments] }, 1, 10, refused],
    ['lists of references count when their length is known', { expand: [{ name: 'readerIds' }] }, 100, 1, undefined],
    ['a request without expansions has no limit', {}, 100, 0, undefined],
  ])('limits the records to expand before they are read: %s', async (_, more, limit, expandMax, code) => {
    const resolve = async (context: RequestContext) => projectionFor(context, limit);
    await inRead(
      more,
      async (context) => {
        if (code === undefined) await resolve(context);
        else expect(await codeOf(resolve(context))).toBe(code);
      },
      expandMax,
    );
  });

  it.each([
    [2, undefined],
    [1, refused],
  ])('the length of a list of two references is compared with the limit %i', async (expandMax, code) => {
    await inRead(
      { expand: [{ name: 'readerIds' }] },
      async (context) => {
        const { found } = await decidedOf(context);
        const work = projectEach(context, found, projectionFor(context, 1));
        if (code === undefined) expect(await work).toMatchObject([{ expand: { readerIds: [{ id: 'ann' }, { id: 'ben' }] } }]);
        else expect(await codeOf(work)).toBe(code);
      },
      expandMax,
    );
  });

  it('the requests of a transaction share the limit', async () => {
    await inRead(
      { expand: [{ name: 'authorId' }] },
      async (context) => {
        projectionFor(context, 3);
        expect(await codeOf((async () => projectionFor(context, 3))())).toBe(refused);
      },
      5,
    );
  });
});
