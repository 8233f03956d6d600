import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logIn, type Program, setUp } from '../../test/process/program.ts';
import { moveTo } from '../cores.ts';
import { openFilling } from '../fill.ts';
import { fillPersons } from '../fill-policies.ts';
import { type Call, load, type Sent } from '../load.ts';
import type { OnFigure } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { race } from '../rounds.ts';
import { startService } from '../service.ts';
import { type Cerbos, startCerbos } from './cerbos.ts';

/** The compared requests: with a durable audit entry, without one, and to Cerbos. */
const NAMES = ['bailiwick, read on the record', 'bailiwick, test-access', 'Cerbos, check'] as const;

const CONNECTIONS = [1, 16];

interface Target {
  readonly name: string;
  readonly url: string;
  readonly call: Call;
}

/** Measures decisions per second over HTTP. Those of Bailiwick that write an audit entry are reads, which also load and return the record. */
export async function measureOverHttp(options: Options, onFigure: OnFigure): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  moveTo('server');
  const running: { stop(): Promise<unknown> }[] = [];
  try {
    mkdirSync(join(folder, 'cerbos'));
    const cerbos = await startCerbos(join(folder, 'cerbos'), options.policies);
    running.push(cerbos);
    const own = await startBailiwick(folder, options.policies);
    running.push(own.program);
    moveTo('load');
    const targets = toTargets(own, cerbos, options.policies);
    for (const each of targets) await check(each);
    for (const connections of CONNECTIONS) await measure({ targets: pick(options, targets), connections, options, onFigure });
  } finally {
    for (const { stop } of running) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measuring {
  readonly targets: readonly Target[];
  readonly connections: number;
  readonly options: Options;
  readonly onFigure: OnFigure;
}

async function measure({ targets, connections, options, onFigure }: Measuring): Promise<void> {
  for (const { url, call } of targets) await load(call, { url, connections, seconds: options.warmSeconds });
  const racers = targets.map(({ name, url, call }) => ({
    name,
    async turn() {
      const { rate, beside } = await load(call, { url, connections, seconds: options.seconds });
      return { value: rate, beside };
    },
  }));
  const setting = `${connections} connections, ${options.policies.toLocaleString('en')} policies`;
  for (const { name, rounds, beside } of await race(racers, options.rounds)) {
    onFigure({ measurement: 'decide', case: 'over HTTP', setting, contestant: name, unit: 'requests/s', better: 'more', rounds, beside });
  }
}

interface BailiwickServer {
  readonly program: Program;
  readonly admin: string;
  /** Access tokens of users that each have a policy. */
  readonly tokens: readonly string[];
  toArticleId(person: number): string;
}

/** Starts Bailiwick with users that each have a policy and an article, and logs some of them in. */
async function startBailiwick(folder: string, policies: number): Promise<BailiwickServer> {
  const database = `sqlite:${join(folder, 'bailiwick.db')}`;
  const first = await startService(folder, database);
  await setUp(first.url);
  await first.stop();
  const filling = await openFilling(database);
  const { toArticleId } = await fillPersons(filling, policies);
  await filling.close();
  const program = await startService(folder, database);
  const tokens: string[] = [];
  for (let person = 1; person <= Math.min(policies, PERSONS); person++) tokens.push(await logIn(program.url, `u${person}@example.com`));
  return { program, admin: await logIn(program.url, 'ada@example.com'), tokens, toArticleId };
}

/** Maximum number of users that log in, because a login is slow. */
const PERSONS = 32;

function toTargets({ program: { url }, admin, tokens, toArticleId }: BailiwickServer, cerbos: Cerbos, policies: number): readonly Target[] {
  const headers = { 'content-type': 'application/json' };
  const read: Call = {
    headers,
    toRequest(turn): Sent {
      const person = turn % tokens.length;
      const path = `/api/Article/${toArticleId(person + 1)}`;
      return { method: 'GET', path, headers: { ...headers, authorization: `Bearer ${tokens[person]}` } };
    },
  };
  const test: Call = {
    headers: { ...headers, authorization: `Bearer ${admin}` },
    toRequest(turn): Sent {
      const id = `u${(turn % policies) + 1}`;
      const body = { user: { id }, resource: { name: 'Article', authorId: id, status: 'draft' }, action: 'read' };
      return { method: 'POST', path: '/admin/api/policies/test-access', body };
    },
  };
  const [recorded, tested, checked] = NAMES;
  return [
    { name: recorded, url, call: read },
    { name: tested, url, call: test },
    { name: checked, url: cerbos.url, call: cerbos.check },
  ];
}

/** Checks that a server allows the request. @throws Error if it does not. */
async function check({ name, url, call }: Target): Promise<void> {
  const { method, path, body, headers = call.headers } = call.toRequest(0);
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const isAllowed = answer.ok && /EFFECT_ALLOW|"allowed":true|"authorId":"u1"/.test(text);
  if (!isAllowed) throw new Error(`${name}: expected to be allowed, given ${answer.status} ${text.slice(0, 500)}`);
}
