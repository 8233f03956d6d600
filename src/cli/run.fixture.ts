import { EventEmitter } from 'node:events';
import type { Config } from '../config/config.ts';
import { SetupError } from '../errors.ts';
import type { FileFinding } from '../policy-files/index.ts';
import type { ProjectBackups, Tables, VerifiedDecisions } from '../project/index.ts';
import type { Service } from '../service.ts';
import type { CliContext } from './cli-context.ts';

/** A fake context for a command, with everything that the command prints and calls. */
export interface Run {
  readonly context: CliContext;
  readonly signals: EventEmitter;
  readonly out: string[];
  readonly err: string[];
  /** The calls of the service, in order. */
  readonly calls: string[];
  /** The configurations that services and tables were created with. */
  readonly made: Config[];
}

const APPLIED = {
  ...{ created: 0, updated: 0, unchanged: 1, assigned: 0, adopted: [], changes: [], assignments: [] },
  orphanedPolicies: [{ id: 'p1', name: 'Old', file: 'policies/old.yaml' }],
  orphanedRoles: [],
  lines: ['1 unchanged'],
};
/** A finding of the fake linter. */
export const FINDING: FileFinding = {
  ...{ file: 'policies/a.yaml', line: 1, column: 1, code: 'empty', level: 'warning' },
  ...{ detail: 'the policy has no rules', todo: 'add a rule' },
};
const NOTHING = { hash: 'h', steps: [], held: [] };

async function* chunks(...all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

interface Fakes {
  readonly tables?: Partial<Tables>;
  readonly backups?: ProjectBackups;
  readonly verification?: VerifiedDecisions;
}

/** Creates a context whose service records its calls. */
export function createRun(
  { tables: tableFakes = {}, backups, verification, ...service }: Partial<Service> & Fakes = {},
  env: Record<string, string> = {},
): Run {
  const signals = new EventEmitter();
  const out: string[] = [];
  const err: string[] = [];
  const calls: string[] = [];
  const made: Config[] = [];
  const full: Service = {
    notices: [],
    openSetup: async () => undefined,
    prepare: async () => void calls.push('prepare'),
    listen: async () => ({ url: 'http://127.0.0.1:4242' }),
    async watch(log) {
      calls.push('watch');
      log('Article: new field "tags"');
    },
    async policiesFromPermissions({ apply }) {
      calls.push(`apply ${apply}`);
      return [];
    },
    async importPolicies({ as, mediaType, dryRun }) {
      calls.push(`import policies as ${as}: ${mediaType}, dry run ${dryRun}`);
      return ['2 created'];
    },
    async applyPolicies({ as, orphans, dryRun, deletable }) {
      calls.push(`apply policies as ${as}: ${orphans}, dry run ${dryRun}${deletable === undefined ? '' : `, deletable ${deletable}`}`);
      return APPLIED;
    },
    async assignPolicy({ as, policy, to, expiresAt, reason }) {
      calls.push(`assign ${policy} as ${as}: ${JSON.stringify({ ...to, expiresAt, reason })}`);
      return 'assigned';
    },
    async unassignPolicy({ as, policy, to, reason }) {
      calls.push(`unassign ${policy} as ${as}: ${JSON.stringify({ ...to, reason })}`);
      return 'unassigned';
    },
    rollBackPolicy: async ({ policy }) => ({
      name: policy,
      differences: [{ path: 'rules', kind: 'removed', meaning: 'less' }],
      assignments: [],
      file: 'policies/a.yaml',
      message: undefined,
    }),
    comparePolicies: async () => ({ ...APPLIED, orphanedPolicies: [], replay: undefined }),
    async exportPolicies(format) {
      calls.push(`export policies as ${format}`);
      return chunks('a\n', 'b\n');
    },
    async restoreAdminPolicy() {
      calls.push('restore the admin policy');
      return { message: 'restored', closing: [] };
    },
    async setPassword({ email, password }) {
      calls.push(`password of ${email}: ${password}`);
      return 'set';
    },
    async createUser({ email, name, role, password }) {
      calls.push(`create ${email} ${name} ${role}: ${password}`);
      return 'created';
    },
    async promoteUser({ email, role }) {
      calls.push(`promote ${email} to ${role}`);
      return 'promoted';
    },
    async importFile({ resource, as, query, mediaType }) {
      calls.push(`import ${resource} as ${as}: ${mediaType} ${JSON.stringify([...query])}`);
      return chunks('{"row":3,"code":"VALUE_INVALID"}\n', '{"success":true,"data":{"rejected":1},"message":"1 imported"}\n');
    },
    async exportFile({ resource, as, query, body, onProgress }) {
      calls.push(`export ${resource} as ${as}: ${JSON.stringify([[...query], body])}`);
      onProgress(2);
      return chunks('a\n', 'b\n');
    },
    close: async () => void calls.push('close'),
    ...service,
  };
  const tables: Tables = {
    plan: async () => NOTHING,
    async apply({ allow }) {
      calls.push(`apply ${allow}`);
      return { definitions: new Map(), plan: NOTHING, done: [], remaining: NOTHING };
    },
    history: async () => [],
    deletedRecords: async () => [],
    planPrune: async () => NOTHING,
    prune: async () => [],
    noteRestored: async () => void calls.push('noteRestored'),
    close: async () => void calls.push('close'),
    ...tableFakes,
  };
  const context: CliContext = {
    version: '1.2.3',
    env,
    isCheckout: false,
    readEnvFile: async () => ({}),
    async createProject({ folder, template, hasExampleData }) {
      calls.push(`create ${folder} from ${template}${hasExampleData ? ' with example data' : ''}`);
      return { folder: `/projects/${folder}`, files: ['README.md', 'package.json'] };
    },
    signals,
    readPassword: async () => 'the new password',
    openInput: async (path) => {
      calls.push(`open ${path}`);
      return chunks() as AsyncIterable<never>;
    },
    readOutput: async () => undefined,
    renderOpenApi: async () => '{}\n',
    loadStatus: async ({ project }) => ({ project, database: 'sqlite' }),
    openDecisions: async () => {
      throw new SetupError('there is no audit log');
    },
    renderTypes: async () => '/** Types. */\nexport interface Resources {}\n',
    async readPolicies() {
      calls.push('readPolicies');
      return [];
    },
    openPolicyHistory: async () => {
      throw new SetupError('there is no history');
    },
    lintPolicies: async () => ({ findings: [FINDING], lines: ['policies/a.yaml:1:1 empty'] }),
    checkProject: async () => ({ isValid: false, lines: ['1 failed'] }),
    async testPolicies() {
      calls.push('testPolicies');
      return { cases: 2, failed: 0, lines: ['2 passed'], junit: '<testsuites/>', summary: { cases: 2 } };
    },
    async writeOutput(path, open, { force }) {
      for await (const piece of await open()) calls.push(`write ${path}${force ? ' by force' : ''}: ${piece.trimEnd()}`);
    },
    print: (line) => void out.push(line),
    outputFailed: new AbortController().signal,
    flushOutput: async () => undefined,
    printError: (line) => void err.push(line),
    async createPrimary({ workers }) {
      calls.push(`primary with ${workers}`);
      return {
        start: async () => ({
          url: 'http://127.0.0.1:4242',
          notices: ['metrics are at http://127.0.0.1:9464/metrics', ...full.notices.slice(1)],
        }),
        restart: async () => void calls.push('restart'),
        close: async () => void calls.push('close workers'),
        kill: () => void calls.push('kill workers'),
      };
    },
    async createService(config, options) {
      made.push(config);
      if (options?.isDevelopment === true) calls.push('in development');
      return full;
    },
    async openTables(config) {
      made.push(config);
      return tables;
    },
    async openBackups(config) {
      made.push(config);
      if (backups === undefined) throw new Error('this test provides no backups');
      return backups;
    },
    async verifyDecisions(config, { publicKey }) {
      made.push(config);
      calls.push(`verify by ${publicKey}`);
      if (verification === undefined) throw new SetupError('there is no audit log');
      return verification;
    },
    async verifyData(config, { publicKey }) {
      made.push(config);
      calls.push(`verify data by ${publicKey}`);
      if (verification === undefined) throw new SetupError('there is no audit log');
      const rows = { rows: 7, damaged: ['row u1 of User is damaged'], damagedCount: 1 };
      return { isWhole: false, database: { damage: [], summary: 'the file passed its checks' }, rows, decisions: verification };
    },
    async resealData(config) {
      made.push(config);
      calls.push('reseal');
      return ['row u1 of User is damaged'];
    },
    async pruneDecisions(config, { before, olderThan, isSure }) {
      made.push(config);
      calls.push(`prune ${before ?? olderThan}${isSure ? ', sure' : ''}`);
      return { before: '2026-01-01', entries: 3, chains: 2 };
    },
  };
  return { context, signals, out, err, calls, made };
}
