/**
 * The service that the tests of this folder attack: two resources with secret fields, callers of every role, and
 * policies under which each caller has some access and only admins have full access.
 */
import { expect, it } from 'vitest';
import type { Chain } from '../chain.ts';
import { type CallOptions, type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';

/** A caller. Alice and Bob are users with records of their own, Eve is an editor, `anon` has no token. */
export type Caller = 'anon' | 'alice' | 'bob' | 'eve' | 'admin';

/** Callers of every role, for attacks that must fail for all of them. */
export const CALLERS: readonly Caller[] = ['anon', 'alice', 'eve', 'admin'];

/** Values of secret fields. No response may contain them. */
export const SECRETS = { alice: 'pin-of-alice-7731', bob: 'pin-of-bob-4402', recovery: 'recovery-of-eve-9120' } as const;

/** A running service with its callers, records and policies. */
export interface AttackTarget extends RunningService {
  readonly ids: Readonly<Record<'alice' | 'bob' | 'eve' | 'admin', string>>;
  /** Ids of two cases. Alice's is closed and has no amount, Bob's is open. */
  readonly cases: Readonly<Record<'alice' | 'bob', string>>;
  readonly emails: Readonly<Record<'alice' | 'bob' | 'eve' | 'admin', string>>;
  readonly passwords: string;
  /** Ids of the policies that exist at the start. */
  readonly policies: Readonly<Record<'user' | 'editor' | 'anon', string>>;
  as(caller: Caller, method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Counts the cases as an admin. */
  countCases(): Promise<number>;
}

/** One attack: a request and the expected response. */
export interface Attack {
  readonly name: string;
  /** Default: `alice`. */
  readonly as?: Caller | readonly Caller[];
  /** Method and path, such as `GET /api/Case`. */
  readonly send: Lazy<string>;
  readonly body?: Lazy<Body>;
  readonly headers?: Lazy<Readonly<Record<string, string>>>;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string;
  /** The expected status, or several accepted ones. */
  readonly answers: number | readonly number[];
  /** Further checks of the response. */
  readonly also?: (reply: Reply, target: AttackTarget) => void | Promise<void>;
}

/** A JSON request body. */
export type Body = Readonly<Record<string, unknown>> | readonly unknown[] | string | number | null;

/** A value, or a function that derives it from the target. */
type Lazy<Value> = Value | ((target: AttackTarget) => Value);

const DEFINITIONS = {
  'User.yaml': `
name: User
fields:
  role: { type: enum, values: [anon, user, admin, editor], default: user }
  department: { type: string }
  recovery: { type: string, writeOnly: true }
`,
  'Case.yaml': `
name: Case
fields:
  title: { type: string, required: true, maxLength: 200 }
  code: { type: string, unique: true, maxLength: 50 }
  amount: { type: integer }
  price: { type: decimal }
  tags: { type: list, of: string, maxLength: 10 }
  openedOn: { type: date }
  isOpen: { type: boolean, default: false }
  ownerId: { type: reference, to: User, onDelete: setNull }
  extra: { type: json }
  origin: { type: string, immutable: true }
  pin: { type: string, writeOnly: true, maxLength: 40 }
`,
};

/** Starts the service, and creates its users, policies and cases. */
export async function startAttackTarget(settings: ServiceOptions['settings'] = {}, options: ServiceOptions = {}): Promise<AttackTarget> {
  const service = await startService({
    ...options,
    definitions: DEFINITIONS,
    settings: { loginAttempts: 10_000, loginAttemptsPerAddress: 10_000, ...settings },
  });
  const admin = await service.admin();
  const [alice, bob, eve] = [
    await service.user({ department: 'claims' }),
    await service.user({ department: 'claims' }),
    await service.user({ role: 'editor', recovery: SECRETS.recovery }),
  ];
  const policies = await createPolicies(service);
  const people = { alice, bob, eve, admin };
  const as: AttackTarget['as'] = (caller, method, path, options = {}) =>
    service.call(method, path, { token: caller === 'anon' ? undefined : people[caller].token, ...options });
  const cases = {
    alice: await makeCase(as, 'alice', { title: "Alice's case", code: 'A-1', pin: SECRETS.alice, origin: 'post' }),
    bob: await makeCase(as, 'bob', { title: "Bob's case", code: 'B-1', pin: SECRETS.bob, isOpen: true, amount: 5, tags: ['a'] }),
  };
  return {
    ...service,
    as,
    cases,
    policies,
    ids: { alice: alice.id, bob: bob.id, eve: eve.id, admin: admin.id },
    emails: { alice: alice.email, bob: bob.email, eve: eve.email, admin: admin.email },
    passwords: alice.password,
    countCases: async () => Number((await as('admin', 'GET', '/api/Case?total=true&limit=1')).at('total')),
  };
}

/** Runs the work while these rules replace the policy of editors. */
export async function underRules<Result>(
  target: AttackTarget,
  rules: readonly Readonly<Record<string, unknown>>[],
  work: () => Promise<Result>,
): Promise<Result> {
  const usual = `/admin/api/policies/${target.policies.editor}`;
  await target.as('admin', 'PUT', usual, { body: { isActive: false } });
  const id = await target.createPolicy({ role: 'editor', rules });
  try {
    return await work();
  } finally {
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    await target.as('admin', 'PUT', usual, { body: { isActive: true } });
  }
}

/** The beginning of the titles of attacks, and a chain for attacks that build on each other. */
export interface InChain {
  readonly start: string;
  readonly it: Chain;
}

/** Registers one test per attack and caller. Each test also checks that the response discloses nothing. Each title begins with `start`. */
export function checkAttacks(target: () => AttackTarget, attacks: readonly Attack[], titles: string | InChain = ''): void {
  const { start, it: register } = typeof titles === 'string' ? { start: titles, it } : titles;
  for (const attack of attacks) {
    for (const caller of typeof attack.as === 'object' ? attack.as : [attack.as ?? 'alice']) {
      register(`${start}${attack.name}, as ${caller}`, () => checkAttack(target(), attack, caller));
    }
  }
}

async function checkAttack(target: AttackTarget, attack: Attack, caller: Caller): Promise<void> {
  const [method = '', path = ''] = now(attack.send, target).split(/ (.*)/);
  const reply = await target.as(caller, method, path, {
    body: now(attack.body, target),
    headers: now(attack.headers, target) ?? {},
    ...(attack.raw !== undefined && { raw: attack.raw }),
  });
  expect([attack.answers].flat(), `${reply.status} ${reply.text}`).toContain(reply.status);
  expectDiscreet(reply);
  await attack.also?.(reply, target);
}

function now<Value>(lazy: Lazy<Value>, target: AttackTarget): Value {
  return typeof lazy === 'function' ? (lazy as (target: AttackTarget) => Value)(target) : lazy;
}

/** Expects that the response is no 500 and contains no secret, driver message, SQL or stack. */
export function expectDiscreet(reply: Reply): void {
  expect(reply.status, reply.text).not.toBe(500);
  for (const secret of Object.values(SECRETS)) expect(reply.text + JSON.stringify(reply.headers)).not.toContain(secret);
  expect(reply.text).not.toMatch(
    /SQLITE_[A-Z]|SqliteError|\b(SELECT|select)\b.+\b(FROM|from)\b|constraint failed|node_modules|\bat .+\.[jt]s:\d+|\$argon2/,
  );
  if (reply.status >= 400 && reply.text !== '') {
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(reply.at('requestId')).toBe(reply.headers['x-request-id']);
  }
}

/** Renders the status and body of a response without the ids of request and audit entry. */
export function withoutIds(reply: Reply): string {
  return `${reply.status} ${reply.text.replaceAll(/"(requestId|decisionId)":"[^"]*"/g, '"$1":"…"')}`;
}

async function createPolicies(service: RunningService): Promise<AttackTarget['policies']> {
  const own = [{ field: 'resource.createdBy', operator: 'eq', value: `\${user.id}` }];
  const self = [{ field: 'resource.id', operator: 'eq', value: `\${user.id}` }];
  return {
    user: await service.createPolicy({
      role: 'user',
      rules: [
        { resource: 'Case', action: '*', conditions: own },
        { resource: 'User', action: 'read', conditions: self },
        { resource: 'User', action: 'update', conditions: self },
        { resource: 'User', action: 'create' },
        { resource: 'User', action: 'import' },
      ],
    }),
    editor: await service.createPolicy({
      role: 'editor',
      rules: [
        { resource: 'Case', action: '*' },
        { resource: 'User', action: '*' },
      ],
    }),
    anon: await service.createPolicy({
      role: 'anon',
      rules: ['list', 'read', 'export'].map((action) => ({
        resource: 'Case',
        action,
        conditions: [{ field: 'resource.isOpen', operator: 'eq', value: true }],
      })),
    }),
  };
}

async function makeCase(as: AttackTarget['as'], caller: Caller, data: Readonly<Record<string, unknown>>): Promise<string> {
  const reply = await as(caller, 'POST', '/api/Case', { body: data });
  if (reply.status !== 201) throw new Error(`the case was not created: ${reply.text}`);
  return String(reply.at('data.id'));
}
