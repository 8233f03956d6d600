import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printMistake } from '../../src/resources/index.ts';
import { loadProject } from '../../src/resources/system/index.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { examples, run } from './examples.ts';
import { LEAVES_OTHERS } from './soft-delete-service.ts';

let service: RunningService;
let admin: TestUser;
let articleId: string;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  admin = await service.admin();
  articleId = await service.createRecord('Article', { title: 'A budget', slug: 'a-budget', authorId: admin.id });
});
afterAll(() => service.close());

const SHOP = {
  'Product.yaml': 'name: Product\nfields: { stock: { type: integer } }\n',
  'Order.yaml': 'name: Order\nfields: { note: { type: string } }\n',
  'Line.yaml':
    'name: Line\nfields: { orderId: { type: reference, to: Order }, productId: { type: reference, to: Product }, quantity: { type: integer } }\n',
};

/** Runs a shell command of a guide, and parses the JSON that it prints. */
function runCommand(command: string): Promise<Record<string, unknown>> {
  return run(command, { URL: service.url, TOKEN: admin.token, ADMIN: admin.token, ID: articleId });
}

describe('the guide to definitions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-guide-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const [article = '', comment = '', team = '', page = '', payment = '', user = '', indexes = '', permissions = ''] = examples(
    'definitions',
    'yaml',
  );

  const folders = (softDelete: string): string => `name: Folder\nsoftDelete: ${softDelete}\nfields: { label: { type: string } }\n`;

  function mistakes(files: Readonly<Record<string, string>>): readonly string[] {
    const resources = join(folder, 'resources');
    rmSync(resources, { recursive: true, force: true });
    mkdirSync(resources);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(resources, name), text);
    return loadProject(resources).mistakes.map(printMistake);
  }

  it('the guide to definitions has valid definitions', () => {
    const others = {
      'Comment.yaml': comment,
      'Team.yaml': team,
      'Page.yaml': page,
      'Folder.yaml': folders('true'),
      'Payment.yaml': payment,
      'User.yaml': user,
    };
    expect(mistakes({ ...others, 'Article.yaml': article + permissions })).toEqual([]);
    expect(mistakes({ ...others, 'Article.yaml': article.replace(/^indexes:[\s\S]*/m, indexes) })).toEqual([]);
  });

  it('the guide to definitions has a soft-deleted resource that cascades only from a soft-deleted one', () => {
    expect(mistakes({ 'Page.yaml': page, 'Folder.yaml': folders('false') })).toEqual([
      expect.stringContaining('give Folder softDelete too'),
    ]);
  });

  it('the guide to definitions has the rule for own deleted records that the soft-delete tests use', () => {
    expect(examples('definitions', 'json').map((text) => JSON.parse(text))).toEqual([LEAVES_OTHERS]);
  });

  it('the guide to definitions shows the text of a mistake', () => {
    const [shown = ''] = examples('definitions', '');
    expect(mistakes({ 'Article.yaml': article.replace('maxLength', 'maxLenght') })).toEqual([shown.trimEnd()]);
  });
});

describe('the addresses in guides', () => {
  const addresses = ['api', 'audit-log'].flatMap((guide) => examples(guide, '').flatMap((block) => block.trim().split('\n')));

  it.each(addresses.filter((address) => !/cursor=|decisions\/</.test(address)))(
    'the addresses in guides return a success: %s',
    async (line) => {
      const [method = '', path = ''] = line.split(' ');
      const reply = await service.call(method, path.replaceAll('<id>', admin.id), { token: admin.token });
      expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"success":true')]);
    },
  );
});

describe('the guide to the API', () => {
  // These tests build on each other.
  const it = createChain();
  const [created = '', list = '', shown = '', byFilter = '', , batch = '', checkout = '', problem = '', permissions = ''] = examples(
    'api',
    'json',
  );
  const [create = '', again = '', update = '', increment = '', ask = ''] = examples('api', 'sh').filter((command) =>
    command.startsWith('curl'),
  );

  const asAny = (_: string, value: unknown): unknown => (value === '…' ? expect.any(String) : value);

  it('the guide to the API shows the response to its create', async () => {
    expect(await runCommand(create)).toEqual(JSON.parse(created, asAny));
  });

  it('the guide to the API has a valid list by the action route', async () => {
    expect((await service.call('POST', '/api/Article/list', { token: admin.token, raw: list })).status).toBe(200);
  });

  it('the guide to the API shows the members of an expanded record', async () => {
    await service.createRecord('Comment', { articleId, text: 'Well said' });
    const address = examples('api', '').find((block) => block.includes('expand='));
    const reply = await service.call('GET', String(address).trim().replace('GET ', ''), { token: admin.token });
    const record = JSON.parse(shown, asAny) as object;
    expect(reply.at('data')).toEqual([expect.objectContaining({ title: 'A budget' })]);
    expect(reply.at('data.0')).toMatchObject(record);
    expect(Object.keys(reply.at('data.0') as object)).toEqual(Object.keys(record));
  });

  it('the guide to the API reads a record again unless it has not changed', async () => {
    const statusOf = (command: string): Promise<unknown> => runCommand(command.replace('-s -i', "-s -o /dev/null -w '%{http_code}'"));
    expect([await statusOf(again), await statusOf(again.replace('"3"', '"1"'))]).toEqual([200, 304]);
  });

  it('the guide to the API has an update that fails unless the version matches', async () => {
    expect(await runCommand(update)).toMatchObject({ status: 412, code: 'RECORD_VERSION' });
    expect(await runCommand(update.replace('"3"', '"1"'))).toMatchObject({ data: { title: 'New', version: 2 } });
  });

  it('the guide to the API has an update that depends on a filter', async () => {
    const { token } = admin;
    const update = (): Promise<Reply> => service.call('POST', '/api/Article/updateIfExists', { token, raw: byFilter });
    expect((await update()).body).toMatchObject({ success: true, updated: false });
    await service.call('PUT', `/api/Article/${articleId}`, { token, body: { fee: '120' } });
    expect((await update()).body).toMatchObject({ updated: true, data: { status: 'published' } });
  });

  it('the guide to the API has an increment of a decimal', async () => {
    expect(await runCommand(increment)).toMatchObject({ data: { fee: '118.50' } });
  });

  it('the guide to the API shows the members of a permission', async () => {
    const membersOf = (answer: object): string[] => Object.keys((answer as { readonly data: readonly [object] }).data[0]);
    const answer = await runCommand(ask.replace('…', articleId));
    expect(answer).toMatchObject({
      success: true,
      count: 2,
      data: [{ id: articleId, action: 'read', effect: 'allow' }, { action: 'update' }],
    });
    expect(membersOf(answer)).toEqual(membersOf(JSON.parse(permissions) as object));
  });

  it('the guide to the API has a batch that publishes an article', async () => {
    const raw = batch.replaceAll('"…"', JSON.stringify(articleId));
    expect((await service.call('POST', '/api/batch', { token: admin.token, raw })).body).toMatchObject({
      data: [{ status: 201 }, { status: 200, data: { status: 'published' } }, { status: 200 }],
    });
  });

  it('the guide to the API has an atomic batch that takes stock with an order, or changes nothing', async () => {
    const shop = await startService({ definitions: SHOP });
    const { token } = await shop.admin();
    const productId = await shop.createRecord('Product', { stock: 3 });
    const raw = checkout.replaceAll('"…"', JSON.stringify(productId));
    const [first, second] = [await shop.call('POST', '/api/batch', { token, raw }), await shop.call('POST', '/api/batch', { token, raw })];
    const orders = await shop.call('GET', '/api/Order', { token });
    await shop.close();
    expect(first.at('data')).toMatchObject([{ status: 201 }, { data: { orderId: first.at('data.0.data.id') } }, { data: { stock: 1 } }]);
    expect(second.body).toMatchObject({ status: 409, code: 'RECORD_UNMATCHED', errors: [{ path: 'requests.2' }] });
    expect(orders.at('count')).toBe(1);
  });

  it('the guide to the API shows the members of a problem', async () => {
    const shown = JSON.parse(problem) as { errors: object[] };
    const body = { stauts: 'draft', slug: 'another', authorId: admin.id };
    const reply = await service.call('POST', '/api/Article', { token: admin.token, body });
    expect(reply.body).toMatchObject({ ...shown, errors: expect.arrayContaining(shown.errors), requestId: expect.any(String) });
  });
});

describe('the guide to the audit log', () => {
  it('the guide to the audit log shows every member of an audit entry', async () => {
    const [shown = ''] = examples('audit-log', 'json');
    const [entry = {}] = await service.decisions(`limit=1&resource=Article`);
    const members = [...Object.keys(JSON.parse(shown)), 'facts', 'outcome'];
    expect(Object.keys(entry).filter((member) => !members.includes(member))).toEqual([]);
  });
});
