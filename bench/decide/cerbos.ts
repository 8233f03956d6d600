import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPort } from '../../test/postgres/server.ts';
import { contestantFile } from '../contestants/install.ts';
import type { Call } from '../load.ts';
import { startServer, stopServer } from '../process.ts';

/** Path of the Cerbos program. */
export const CERBOS = '@cerbos/cerbos-linux-x64/cerbos-linux-x64';

/** A Cerbos server with its decision log in a local database. */
export interface Cerbos {
  readonly url: string;
  readonly child: ChildProcess;
  /** Checks that the nth user may read an article of their own. */
  readonly check: Call;
  /** Loads the ids of all logged decisions from the admin API. */
  loadLogged(): Promise<ReadonlySet<string>>;
  stop(): Promise<void>;
}

/** The default admin credentials; the server is bound to the local machine. */
const ADMIN = `Basic ${Buffer.from('cerbos:cerbosAdmin').toString('base64')}`;

/** Starts Cerbos in a folder, with one policy for each user. An existing log in the folder is kept. */
export async function startCerbos(folder: string, policies: number): Promise<Cerbos> {
  const [port, grpc] = [await findPort(), await findPort()];
  mkdirSync(join(folder, 'policies'), { recursive: true });
  for (let person = 1; person <= policies; person++) writeFileSync(join(folder, 'policies', `u${person}.yaml`), toPolicy(person));
  // The configuration is YAML, so JSON is allowed.
  const config = {
    server: { httpListenAddr: `127.0.0.1:${port}`, grpcListenAddr: `127.0.0.1:${grpc}`, adminAPI: { enabled: true } },
    telemetry: { disabled: true },
    storage: { driver: 'disk', disk: { directory: join(folder, 'policies'), watchForChanges: false } },
    audit: {
      enabled: true,
      accessLogsEnabled: false,
      decisionLogsEnabled: true,
      backend: 'local',
      local: { storagePath: join(folder, 'log') },
    },
  };
  const file = join(mkdtempSync(join(folder, 'config-')), 'cerbos.json');
  writeFileSync(file, JSON.stringify(config));
  const url = `http://127.0.0.1:${port}`;
  const child = await startServer({
    command: contestantFile(CERBOS),
    args: ['server', `--config=${file}`, '--log-level=error'],
    cwd: folder,
    env: { CERBOS_NO_TELEMETRY: '1' },
    probe: `${url}/_cerbos/health`,
  });
  const headers = { 'content-type': 'application/json' };
  return {
    url,
    child,
    check: { headers, toRequest: (turn) => ({ method: 'POST', path: '/api/check/resources', body: toQuestion((turn % policies) + 1) }) },
    loadLogged: () => loadLogged(url),
    stop: () => stopServer(child),
  };
}

function toPolicy(person: number): string {
  return JSON.stringify({
    apiVersion: 'api.cerbos.dev/v1',
    principalPolicy: {
      principal: `u${person}`,
      version: 'default',
      rules: [
        {
          resource: 'Article',
          actions: [{ action: 'read', effect: 'EFFECT_ALLOW', condition: { match: { expr: 'R.attr.authorId == P.id' } } }],
        },
      ],
    },
  });
}

function toQuestion(person: number): object {
  const id = `u${person}`;
  return {
    principal: { id, roles: ['user'] },
    resources: [{ actions: ['read'], resource: { kind: 'Article', id: `a${person}`, attr: { authorId: id, status: 'draft' } } }],
  };
}

async function loadLogged(url: string): Promise<ReadonlySet<string>> {
  const answer = await fetch(`${url}/admin/auditlog/list/KIND_DECISION?since=3600s`, { headers: { authorization: ADMIN } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`expected the log of Cerbos, given ${answer.status} ${text.slice(0, 500)}`);
  return new Set(text.match(/(?<="callId":\s?")[^"]+/g) ?? []);
}
