/** The same mistake has the same code at every endpoint. The faulty requests are made from the OpenAPI document, so the document is true as well. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/operators/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { faultsOf, type RequestFault } from './request-faults.ts';

const document = JSON.parse(readFileSync(new URL('../golden/openapi.newsroom.json', import.meta.url), 'utf8')) as JsonObject;

/**
 * One resource stands for all. Health checks and schemas ignore their query. Setup refuses every request, because an admin exists. The validation of a policy
 * answers with its mistakes.
 */
const EXCLUDED = /^\/(api\/(User|Comment|Tip)\b|admin\/api\/policies\/validate|healthz|readyz|schemas|auth\/setup)/;
const OPERATIONS = faultsOf(document, (path) => !EXCLUDED.test(path));

let service: RunningService;
let token: string;
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom', settings: { rateLimit: 0 } });
  const admin = await service.admin();
  token = admin.token;
  const article = await service.createRecord('Article', { title: 'A budget', slug: 'a-budget', authorId: admin.id });
  const policy = await service.createPolicy({ role: 'editor', userId: admin.id, rules: [{ resource: 'Article', action: 'list' }] });
  const decision = String((await service.call('GET', `/api/Article/${article}`, { token })).headers['x-decision-id']);
  ids = { id: article, policyId: policy, userId: admin.id, role: 'editor', decision, sessionId: decision, name: 'view', revision: '1' };
});
afterAll(() => service.close());

/** Returns the path with ids that exist. `{id}` is the id of an article, a policy or a decision. */
function fillPath(path: string): string {
  const id = path.startsWith('/api/') ? ids['id'] : path.includes('/decisions/') ? ids['decision'] : ids['policyId'];
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'id' ? id : ids[name]) ?? '');
}

async function send({ method, path, query, body }: Omit<RequestFault, 'mistake' | 'isInBody'>): Promise<{
  readonly status: number;
  readonly code: unknown;
  readonly mistakes: readonly string[];
}> {
  const reply = await service.call(method, `${fillPath(path)}${query === '' ? '' : `?${query}`}`, {
    token,
    ...(body !== undefined && { body }),
  });
  const errors = (reply.at('errors') ?? []) as readonly { readonly path: string; readonly code: string }[];
  return { status: reply.status, code: reply.at('code'), mistakes: errors.map(({ path, code }) => `${code} ${path}`) };
}

const BODY_CODES = ['REQUEST_MALFORMED', 'VALUE_INVALID', 'POLICY_INVALID'];

describe('a request without a body', () => {
  const withBody = OPERATIONS.filter(({ needsBody }) => needsBody !== undefined);

  it.each(withBody.map(({ name, needsBody, query }) => [name, needsBody, query] as const))(
    '%s refuses a request without a body: %s, as the document says',
    async (name, needsBody, query) => {
      const [method = '', path = ''] = name.split(' ');
      const { code } = await send({ method, path, query, body: undefined });
      expect(BODY_CODES.includes(String(code)), String(code)).toBe(needsBody);
    },
  );
});

describe('a request with one mistake', () => {
  it.each(OPERATIONS.map(({ name, faults }) => [name, faults] as const))(
    '%s answers each mistake with its code and path',
    async (_, faults) => {
      for (const fault of faults) {
        const { status, code, mistakes } = await send(fault);
        // The number of requests of a batch and of rows of an import is limited like the size of a body.
        if (fault.mistake.code === 'tooMany' && code === 'REQUEST_TOO_LARGE') continue;
        const given = `${fault.method} ${fault.path}?${fault.query.slice(0, 60)} ${JSON.stringify(fault.body)?.slice(0, 120)}`;
        expect([400, 422], given).toContain(status);
        expect(fault.isInBody ? BODY_CODES : ['REQUEST_PARAMETER'], given).toContain(code);
        // A member that the service sets is refused with any value.
        // A text with a form of its own, such as a time, does not have that form.
        const others = fault.mistake.code === 'characters' ? ['format'] : [];
        const accepted = [fault.mistake.code, 'readOnly', ...others].map((each) => `${each} ${fault.mistake.path}`);
        if (fault.mistake.path !== '')
          expect(
            accepted.some((each) => mistakes.includes(each)),
            `${given}: ${accepted[0]}, not ${mistakes}`,
          ).toBe(true);
      }
    },
  );

  it('occurs at several endpoints for each kind of mistake', () => {
    const endpoints = Map.groupBy(
      OPERATIONS.flatMap(({ name, faults }) => faults.map(({ mistake }) => ({ name, code: mistake.code }))),
      ({ code }) => code,
    );
    for (const code of ['unknown', 'required', 'type', 'range', 'tooShort', 'tooLong', 'tooMany', 'enum'])
      expect(new Set(endpoints.get(code)?.map(({ name }) => name)).size, code).toBeGreaterThan(2);
    expect(endpoints.has('format')).toBe(true);
  });
});
