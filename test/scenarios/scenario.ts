import { expect } from 'vitest';
import { type Chain, createChain } from '../chain.ts';
import type { Reply, RunningService } from '../harness.ts';

/** One request with the expected response, decision and audit entries. */
export interface Scenario {
  readonly name: string;
  /** Name of the token to send. Default: none (anonymous). */
  readonly as?: string;
  /** Method and path. `{name}` is replaced by a value that an earlier scenario kept. */
  readonly send: string;
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Members that the body must contain, at any depth. It may contain others. */
  readonly body_has?: object;
  /** Dotted paths that the body must not contain. */
  readonly body_lacks?: readonly string[];
  /** Headers that the response must have. */
  readonly headers_have?: Readonly<Record<string, string>>;
  /** Values of the response to keep for later scenarios: name → dotted path. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Expected audit entries, newest last, each with these members. Default: one for a request to an admin endpoint that changes nothing, and none for others. */
  readonly entries?: readonly object[];
}

export interface ScenarioContext {
  readonly service: RunningService;
  readonly tokens: Map<string, string>;
  readonly kept: Map<string, string>;
}

/** Registers one test per scenario. They build on each other, and on earlier tests of the chain `it`. */
export function checkScenarios(context: () => ScenarioContext, scenarios: readonly Scenario[], it: Chain = createChain()): void {
  for (const scenario of scenarios) it(scenario.name, () => checkScenario(context(), scenario));
}

async function checkScenario({ service, tokens, kept }: ScenarioContext, scenario: Scenario): Promise<void> {
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole);
  const [method = '', path = ''] = fill(scenario.send).split(' ');
  const token = scenario.as === undefined ? undefined : tokens.get(scenario.as);
  const count = countOf(scenario);
  const before = new Set((await service.decisions(`limit=${count}`)).map(({ id }) => id));
  const reply = await service.call(method, path, {
    token,
    ...(scenario.body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(scenario.body))) }),
    ...(scenario.raw === undefined ? {} : { raw: scenario.raw }),
    ...(scenario.headers === undefined ? {} : { headers: scenario.headers }),
  });
  expect(reply.status, reply.text).toBe(scenario.status);
  checkEnvelope(reply);
  if (scenario.body_has !== undefined) expect(reply.body).toMatchObject(JSON.parse(fill(JSON.stringify(scenario.body_has))));
  for (const place of scenario.body_lacks ?? []) expect(reply.at(place), place).toBeUndefined();
  expect(reply.headers).toMatchObject(JSON.parse(fill(JSON.stringify(scenario.headers_have ?? {}))));
  for (const [name, place] of Object.entries(scenario.keep ?? {})) kept.set(name, String(reply.at(place)));
  const isAdminRead = reply.status === 200 && ADMIN_READS.test(`${method} ${path}`);
  const expected = scenario.entries ?? (isAdminRead ? [{ kind: 'admin', resource: 'Admin', allowed: true }] : []);
  await checkEntries(service, { reply, before, count, expected, fill });
}

/** Matches the requests to admin endpoints that change nothing, without the search of the audit log, whose entries `decisions` omits. */
const ADMIN_READS = /^(?:GET \/admin\/api\/(?!decisions\b(?!\/))|POST \/admin\/api\/.*(?:test-access|\/test|who-can|permissions)\b)/;

/** Expects a success envelope, or a problem for a failure. */
function checkEnvelope(reply: Reply): void {
  expect(reply.at('success')).toBe(reply.status < 400);
  expect(reply.headers['x-request-id']).toBeTruthy();
  if (reply.status < 400) return;
  expect(reply.headers['content-type']).toContain('application/problem+json');
  expect(reply.body).toMatchObject({
    status: reply.status,
    code: expect.any(String),
    detail: expect.any(String),
    requestId: expect.any(String),
  });
}

/**
 * Returns the number of newest entries to compare before and after a request. More than expected, so that an unexpected one is found. A refused
 * token names the first entry of its minute, which may be older than the last few.
 */
function countOf({ status, entries }: Scenario): number {
  return status === 401 ? 50 : (entries?.length ?? 1) + 2;
}

interface Entries {
  readonly reply: Reply;
  readonly before: ReadonlySet<unknown>;
  /** Number of newest entries in `before`. */
  readonly count: number;
  readonly expected: readonly object[];
  fill(text: string): string;
}

async function checkEntries(service: RunningService, { reply, before, count, expected, fill }: Entries): Promise<void> {
  const added = (await service.decisions(`limit=${count}`)).filter(({ id }) => !before.has(id)).reverse();
  expect(added, 'entries left').toHaveLength(expected.length);
  expect(added).toMatchObject(JSON.parse(fill(JSON.stringify(expected))));
  const named = reply.headers['x-decision-id'];
  // A refused token names the first entry of its minute.
  if (named !== undefined) expect([...added.map(({ id }) => id), ...(reply.status === 401 ? before : [])]).toContain(named);
  if (added.some(({ kind }) => kind === 'access') && !reply.text.includes('decisionId')) expect(named, 'X-Decision-Id').toBeDefined();
}
