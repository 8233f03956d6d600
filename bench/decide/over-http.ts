import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logIn, type Program, setUp } from '../../test/process/program.ts';
import { openFilling } from '../fill.ts';
import { fillPersons } from '../fill-policies.ts';
import { type Call, load, type Sent } from '../load.ts';
import type { Tell } from '../measurement.ts';
import { type Options, pick } from '../options.ts';
import { moveTo } from '../place.ts';
import { race } from '../rounds.ts';
import { startService } from '../service.ts';
import { type Cerbos, startCerbos } from './cerbos.ts';

/** Who is asked, and how: in what is recorded durably, and in what leaves no entry. */
const NAMES = ['bailiwick, read on the record', 'bailiwick, test-access', 'Cerbos, check'] as const;

const CONNECTIONS = [1, 16];

interface Asked {
  readonly name: string;
  readonly url: string;
  readonly call: Call;
}

/** Questions per second over HTTP. Ours that leave an entry are reads: the record is loaded and answered as well. */
export async function measureOverHttp(options: Options, tell: Tell): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
  moveTo('server');
  const running: { stop(): Promise<unknown> }[] = [];
  try {
    mkdirSync(join(folder, 'cerbos'));
    const cerbos = await startCerbos(join(folder, 'cerbos'), options.policies);
    running.push(cerbos);
    const ours = await startOurs(folder, options.policies);
    running.push(ours.program);
    moveTo('load');
    const asked = toAsked(ours, cerbos, options.policies);
    for (const each of asked) await check(each);
    for (const connections of CONNECTIONS) await measure({ asked: pick(options, asked), connections, options, tell });
  } finally {
    for (const { stop } of running) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measuring {
  readonly asked: readonly Asked[];
  readonly connections: number;
  readonly options: Options;
  readonly tell: Tell;
}

async function measure({ asked, connections, options, tell }: Measuring): Promise<void> {
  for (const { url, call } of asked) await load(call, { url, connections, seconds: options.warmSeconds });
  const racers = asked.map(({ name, url, call }) => ({
    name,
    async turn() {
      const { rate, beside } = await load(call, { url, connections, seconds: options.seconds });
      return { value: rate, beside };
    },
  }));
  const setting = `${connections} connections, ${options.policies.toLocaleString('en')} policies`;
  for (const { name, rounds, beside } of await race(racers, options.rounds)) {
    tell({ measurement: 'decide', case: 'over HTTP', setting, contestant: name, unit: 'requests/s', better: 'more', rounds, beside });
  }
}

interface Ours {
  readonly program: Program;
  readonly admin: string;
  /** Of persons who have a policy each, in turn. */
  readonly tokens: readonly string[];
  toArticleId(person: number): string;
}

/** Persons, a policy of each, and an article of each; some of them have a token. */
async function startOurs(folder: string, policies: number): Promise<Ours> {
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

/** Who read, of those who have a policy: logging in takes its time. */
const PERSONS = 32;

function toAsked({ program: { url }, admin, tokens, toArticleId }: Ours, cerbos: Cerbos, policies: number): readonly Asked[] {
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

/** All of them allow what they are asked. */
async function check({ name, url, call }: Asked): Promise<void> {
  const { method, path, body, headers = call.headers } = call.toRequest(0);
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  const isAllowed = answer.ok && /EFFECT_ALLOW|"allowed":true|"authorId":"u1"/.test(text);
  if (!isAllowed) throw new Error(`${name}: expected to be allowed, given ${answer.status} ${text.slice(0, 500)}`);
}
