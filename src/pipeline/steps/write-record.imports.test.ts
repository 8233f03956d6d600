import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ISSUES } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestRequest } from '../pipeline.fixture.ts';
import type { Proposal } from '../request-context.ts';
import { authorizeFirstRow } from './authorize-action.ts';
import { allow, checkWrite, type WriteCase } from './write-record.fixture.ts';
import { insertEach } from './write-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        fields: {
          slug: { type: 'string', unique: true },
          status: { type: 'string' },
          articleId: { type: 'reference', to: 'Article', onDelete: 'setNull' },
        },
      },
    },
  });
});
afterAll(() => test.dispose());

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
/** A quota of two articles with the same status. */
const oneOther: JsonObject = { related: { resource: 'Article', as: 'a', on: { status: '${resource.status}' }, atMost: 1 } };

/** An import of rows. */
interface ImportCase extends Omit<WriteCase, 'request'> {
  readonly data: readonly (JsonObject | string)[];
}

const check = ({ data, ...expected }: ImportCase): Promise<void> => checkWrite(test, { ...expected, request: { action: 'import', data } });

const imports: readonly ImportCase[] = [
  {
    title: 'an import stores all records',
    data: [{ slug: 'one' }, { slug: 'two' }],
    ends: { status: 201, data: [expect.any(String), expect.any(String)], extras: expect.objectContaining({ count: 2 }) },
    stored: ['Article NEW createdBy=ann slug=one', 'Article NEW createdBy=ann slug=two'],
    entries: ['allow import Article', 'allow import Article'],
  },
  {
    title: 'an import stores no record if one of them is refused',
    data: [{ slug: 'two' }, { slug: 'one' }],
    articles: { a1: { slug: 'one', status: 'open' } },
    ends: 'RECORD_EXISTS slug:taken',
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow import Article', 'allow import Article'],
  },
  {
    title: 'an import is decided row by row, each with its own data, up to the first denial',
    data: [{ status: 'open' }, { status: 'late' }, { status: 'open' }],
    rules: [allow('import', { field: 'request.data.status', operator: 'eq', value: 'open' })],
    ends: 'ACCESS_DENIED',
    stored: [],
    entries: ['allow import Article', 'deny import Article'],
  },
  {
    title: 'an import is refused at the first row with which the rows before it exceed a quota',
    data: [{ status: 'open' }, { status: 'open' }, { status: 'open' }, { status: 'open' }],
    rules: [allow('import', oneOther)],
    ends: 'ACCESS_DENIED',
    stored: [],
    entries: ['allow import Article', 'allow import Article', 'deny import Article'],
  },
  {
    title: 'an import may use up a quota',
    data: [{ status: 'open' }, { status: 'late' }, { status: 'open' }],
    rules: [allow('import', oneOther)],
    ends: { status: 201 },
    stored: ['open', 'late', 'open'].map((status) => `Article NEW createdBy=ann status=${status}`),
    entries: ['allow import Article', 'allow import Article', 'allow import Article'],
  },
  {
    title: 'an import names the rows of all mistakes in values and references, and stores no record',
    data: [{ slug: 'two' }, { status: 5 }, 'text', { articleId: UNKNOWN }],
    ends: 'VALUE_INVALID data.1.status:type data.2:type data.3.articleId:reference',
    stored: [],
    entries: Array(4).fill('allow import Article'),
  },
  {
    title: 'an import of one row names the row of a mistake',
    data: [{ articleId: UNKNOWN }],
    ends: 'VALUE_INVALID data.0.articleId:reference',
    stored: [],
    entries: ['allow import Article'],
  },
  {
    title: 'an import decides the rows after a mistake, and reports the denial instead of the mistake',
    data: [{ status: 5 }, { status: 'late' }],
    rules: [allow('import', { not: { field: 'resource.status', operator: 'eq', value: 'late', ifExists: true } })],
    ends: 'ACCESS_DENIED',
    stored: [],
    entries: ['allow import Article', 'deny import Article'],
  },
];

describe('an import without options', () => {
  it.each(imports)('decides, validates and stores its rows: $title', check);

  it('lists at most a hundred mistakes, and does not validate the records after them', async () => {
    const full = Array.from({ length: MAX_ISSUES + 1 }, (_, index) => ({ path: `field${index}`, code: 'type' as const, detail: 'wrong' }));
    const toProposal = (issues: Proposal['issues']): Proposal => ({ record: { id: 'a1', version: 1 }, values: {}, cleared: [], issues });
    const last: Proposal = {
      ...toProposal([]),
      get values(): JsonObject {
        throw new Error('expected that the values of this record are not read');
      },
    };
    const request: TestRequest = { action: 'import', resource: 'Article', data: [{}, {}] };
    await test.inContext({ as: 'ann', request, rules: [allow('*')] }, async (context) => {
      const decision = await authorizeFirstRow(context, [], [last]);
      const proposals = [toProposal(full), last];
      const paths = full.slice(0, MAX_ISSUES).map(({ path }) => `data.0.${path}:type`);
      expect(await codeOf(insertEach(context, { found: [], proposals, decision }))).toBe(['VALUE_INVALID', ...paths].join(' '));
    });
  });
});
