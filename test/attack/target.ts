/**
 * The service that the attacks of this folder are made on: two resources with secret fields, callers of every kind, and
 * policies under which each has something and nobody but admins has everything.
 */
import { expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';

/** Who attacks. Alice and Bob are users with records of their own, Eve is an editor, `anon` has no token. */
export type Caller = 'anon' | 'alice' | 'bob' | 'eve' | 'admin';

/** Everyone, for attacks that must fail whoever makes them. */
export const CALLERS: readonly Caller[] = ['anon', 'alice', 'eve', 'admin'];

/** What stands in secret fields. It must come back in no answer. */
export const SECRETS = { alice: 'pin-of-alice-7731', bob: 'pin-of-bob-4402', recovery: 'recovery-of-eve-9120' } as const;

/** The service with who and what is in it. */
export interface World extends RunningService {
  readonly ids: Readonly<Record<'alice' | 'bob' | 'eve' | 'admin', string>>;
  /** Alice's is closed and has no amount, Bob's is open. */
  readonly cases: Readonly<Record<'alice' | 'bob', string>>;
  readonly emails: Readonly<Record<'alice' | 'bob' | 'eve' | 'admin', string>>;
  readonly passwords: string;
  /** The policies that the service begins with. */
  readonly policies: Readonly<Record<'user' | 'editor' | 'anon', string>>;
  as(caller: Caller, method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Number of cases there are, as the admin counts them. */
  countCases(): Promise<number>;
}

/** One attack: a request, and how it must be answered. */
export interface Attack {
  readonly name: string;
  /** `alice` where absent. */
  readonly as?: Caller | readonly Caller[];
  /** `GET /api/Case` */
  readonly send: Lazy<string>;
  readonly body?: Lazy<Body>;
  readonly headers?: Lazy<Readonly<Record<string, string>>>;
  /** Sent as it is, in place of `body`. */
  readonly raw?: string;
  /** Any of these statuses. */
  readonly answers: number | readonly number[];
  /** What else must hold. */
  readonly also?: (reply: Reply, world: World) => void | Promise<void>;
}

/** What an attack sends as JSON. */
export type Body = Readonly<Record<string, unknown>> | readonly unknown[] | string | number | null;

/** A value, or how it follows from the world. */
type Lazy<Value> = Value | ((world: World) => Value);

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

/** Starts a world. */
export async function createWorld(settings: ServiceOptions['settings'] = {}): Promise<World> {
  const service = await startService({
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
  const as: World['as'] = (caller, method, path, options = {}) =>
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

/** Runs the work while editors have only these rules. */
export async function underRules<Result>(
  world: World,
  rules: readonly Readonly<Record<string, unknown>>[],
  work: () => Promise<Result>,
): Promise<Result> {
  const usual = `/admin/api/policies/${world.policies.editor}`;
  await world.as('admin', 'PUT', usual, { body: { isActive: false } });
  const id = await world.createPolicy({ role: 'editor', rules });
  try {
    return await work();
  } finally {
    await world.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    await world.as('admin', 'PUT', usual, { body: { isActive: true } });
  }
}

/** Makes a test of each attack, for each caller who makes it. What must hold for every answer is looked at in every one. */
export function checkAttacks(world: () => World, attacks: readonly Attack[]): void {
  for (const attack of attacks) {
    for (const caller of typeof attack.as === 'object' ? attack.as : [attack.as ?? 'alice']) {
      it(`${attack.name}, as ${caller}`, () => checkAttack(world(), attack, caller));
    }
  }
}

async function checkAttack(world: World, attack: Attack, caller: Caller): Promise<void> {
  const [method = '', path = ''] = now(attack.send, world).split(/ (.*)/);
  const reply = await world.as(caller, method, path, {
    body: now(attack.body, world),
    headers: now(attack.headers, world) ?? {},
    ...(attack.raw !== undefined && { raw: attack.raw }),
  });
  expect([attack.answers].flat(), `${reply.status} ${reply.text}`).toContain(reply.status);
  expectDiscreet(reply);
  await attack.also?.(reply, world);
}

function now<Value>(lazy: Lazy<Value>, world: World): Value {
  return typeof lazy === 'function' ? (lazy as (world: World) => Value)(world) : lazy;
}

/** No answer tells a secret, the driver's words, SQL or a stack, or is a 500. */
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

/** An answer without what differs from request to request. */
export function withoutIds(reply: Reply): string {
  return `${reply.status} ${reply.text.replaceAll(/"(requestId|decisionId)":"[^"]*"/g, '"$1":"…"')}`;
}

async function createPolicies(service: RunningService): Promise<World['policies']> {
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

async function makeCase(as: World['as'], caller: Caller, data: Readonly<Record<string, unknown>>): Promise<string> {
  const reply = await as(caller, 'POST', '/api/Case', { body: data });
  if (reply.status !== 201) throw new Error(`a case could not be made: ${reply.text}`);
  return String(reply.at('data.id'));
}
