import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { pause } from '../../test/process/program.ts';
import { startCerbos } from '../decide/cerbos.ts';
import { fillArticles, readOwn } from '../http/bailiwick.ts';
import type { Call } from '../load.ts';
import type { OnFigure } from '../measurement.ts';
import type { Options } from '../options.ts';
import { stopServer } from '../process.ts';
import { prepareCaller, startService } from '../service.ts';

/** Concurrent clients until the server is killed. */
const CLIENTS = 16;
const POLICIES = 20;

/** Kills servers under load, and counts the answered decisions that are missing from their logs. */
export async function measureLoss(options: Options, onFigure: OnFigure): Promise<void> {
  const [bailiwickLosses, cerbosLosses]: [number[], number[]] = [[], []];
  const [answered, asked]: [number[], number[]] = [[], []];
  for (let round = 0; round < options.rounds; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'));
    try {
      const lost = await killBailiwick(folder, options);
      bailiwickLosses.push(lost.missing);
      answered.push(lost.answered);
      const cerbosLost = await killCerbos(folder, options);
      cerbosLosses.push(cerbosLost.missing);
      asked.push(cerbosLost.answered);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const figure = {
    measurement: 'record',
    case: 'loss after SIGKILL',
    setting: `${CLIENTS} in flight`,
    unit: 'entries missing',
    better: 'less' as const,
  };
  const total = (counts: readonly number[]) => ({ 'answered in all rounds': counts.reduce((sum, each) => sum + each, 0) });
  onFigure({ ...figure, contestant: 'bailiwick', rounds: bailiwickLosses, beside: total(answered) });
  onFigure({ ...figure, contestant: "Cerbos' local backend", rounds: cerbosLosses, beside: total(asked) });
}

interface Lost {
  readonly answered: number;
  readonly missing: number;
}

async function killBailiwick(folder: string, options: Options): Promise<Lost> {
  const file = join(folder, 'bailiwick.db');
  const database = `sqlite:${file}`;
  const first = await startService(folder, database);
  const { caller, token } = await prepareCaller(first.url, ['read', 'list']);
  await first.stop();
  const world = { folder, records: 1000, own: 200, postgres: '' };
  await fillArticles(database, world, caller);
  const program = await startService(folder, database);
  const answered = sendUntilGone({
    url: program.url,
    call: readOwn(world, token),
    toId: async (answer) => answer.headers.get('x-decision-id'),
  });
  await pause(options.seconds * 1000);
  await program.stop('SIGKILL');
  const ids = await answered;
  const opened = new Sqlite(file, { readonly: true });
  const found = new Set(opened.prepare('SELECT "id" FROM "_Decision"').pluck().all());
  opened.close();
  return { answered: ids.length, missing: ids.filter((id) => !found.has(id)).length };
}

async function killCerbos(folder: string, options: Options): Promise<Lost> {
  const place = join(folder, 'cerbos');
  mkdirSync(place);
  const cerbos = await startCerbos(place, POLICIES);
  const toId = async (answer: Response): Promise<string | null> =>
    ((await answer.json()) as { cerbosCallId?: string }).cerbosCallId ?? null;
  const answered = sendUntilGone({ url: cerbos.url, call: cerbos.check, toId });
  await pause(options.seconds * 1000);
  await stopServer(cerbos.child, 'SIGKILL');
  const ids = await answered;
  const again = await startCerbos(place, POLICIES);
  try {
    const found = await again.loadLogged();
    return { answered: ids.length, missing: ids.filter((id) => !found.has(id)).length };
  } finally {
    await again.stop();
  }
}

interface Sending {
  readonly url: string;
  readonly call: Call;
  /** Returns the id of the decision in the log. */
  toId(answer: Response): Promise<string | null>;
}

/** Sends requests until the server is gone, and returns the ids of all complete responses. */
async function sendUntilGone({ url, call, toId }: Sending): Promise<readonly string[]> {
  const ids: string[] = [];
  let turn = 0;
  const send = async (): Promise<void> => {
    for (;;) {
      const { method, path, body } = call.toRequest(turn++);
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: call.headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`expected success, given ${answer.status} ${await answer.text()}`);
      const id = await toId(answer.clone());
      await answer.arrayBuffer();
      if (id !== null) ids.push(id);
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: CLIENTS }, send));
  // Each client ends with a broken connection (TypeError); an error response is a failure.
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected' && !(outcome.reason instanceof TypeError)) throw outcome.reason;
  }
  return ids;
}
