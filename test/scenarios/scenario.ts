import { expect, it } from 'vitest';
import type { Reply, RunningService } from '../harness.ts';

/** One request with everything it must come to: the answer, the decision, and how many entries it leaves. */
export interface Scenario {
  readonly name: string;
  /** Key of the token to send; none is anon. */
  readonly as?: string;
  /** Method and path; `{name}` is replaced by what an earlier scenario kept. */
  readonly send: string;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** Members that the body must have, at any depth; others may be there too. */
  readonly body_has?: object;
  /** Dotted paths that the body must not have. */
  readonly body_lacks?: readonly string[];
  /** Headers that the answer must have. */
  readonly headers_have?: Readonly<Record<string, string>>;
  /** Names to keep values of the answer under: name → dotted path. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Entries it leaves, newest last, each with the members given. None where absent. */
  readonly entries?: readonly object[];
}

export interface Stage {
  readonly service: RunningService;
  readonly tokens: Map<string, string>;
  readonly kept: Map<string, string>;
}

/** Runs scenarios in order, each a test. */
export function checkScenarios(stage: () => Stage, scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) it(scenario.name, () => checkScenario(stage(), scenario));
}

async function checkScenario({ service, tokens, kept }: Stage, scenario: Scenario): Promise<void> {
  const fill = (text: string): string => text.replace(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole);
  const [method = '', path = ''] = fill(scenario.send).split(' ');
  const token = scenario.as === undefined ? undefined : tokens.get(scenario.as);
  const before = await newestEntries(service);
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
  await checkEntries(service, { reply, before, expected: scenario.entries ?? [], fill });
}

/** Every answer says whether it succeeded; every failure is a problem. */
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

interface Entries {
  readonly reply: Reply;
  readonly before: ReadonlySet<unknown>;
  readonly expected: readonly object[];
  fill(text: string): string;
}

async function checkEntries(service: RunningService, { reply, before, expected, fill }: Entries): Promise<void> {
  const added = (await service.decisions('limit=50')).filter(({ id }) => !before.has(id)).reverse();
  expect(added, 'entries left').toHaveLength(expected.length);
  expect(added).toMatchObject(JSON.parse(fill(JSON.stringify(expected))));
  const named = reply.headers['x-decision-id'];
  if (named !== undefined) expect(added.map(({ id }) => id)).toContain(named);
  if (added.some(({ kind }) => kind === 'access') && !reply.text.includes('decisionId')) expect(named, 'X-Decision-Id').toBeDefined();
}

async function newestEntries(service: RunningService): Promise<ReadonlySet<unknown>> {
  return new Set((await service.decisions('limit=50')).map(({ id }) => id));
}
