import { EventEmitter } from 'node:events';
import type { Config } from '../config/config.ts';
import { SetupError } from '../errors.ts';
import type { CliBackups, CliContext, CliService, CliTables, CliVerification } from './cli-context.ts';

/** A command line run in a context of its own, and what came of it. */
export interface Run {
  readonly context: CliContext;
  readonly signals: EventEmitter;
  readonly out: string[];
  readonly err: string[];
  /** What was done to the service. */
  readonly calls: string[];
  /** Settings that a service was made of. */
  readonly made: Config[];
}

const NOTHING = { hash: 'h', steps: [], held: [] };

async function* pieces(...all: readonly string[]): AsyncGenerator<string> {
  yield* all;
}

interface Parts {
  readonly tables?: Partial<CliTables>;
  readonly backups?: CliBackups;
  readonly verification?: CliVerification;
}

/** A context whose service notes what is done to it. */
export function createRun(
  { tables: ofTables = {}, backups, verification, ...service }: Partial<CliService> & Parts = {},
  env: Record<string, string> = {},
): Run {
  const signals = new EventEmitter();
  const out: string[] = [];
  const err: string[] = [];
  const calls: string[] = [];
  const made: Config[] = [];
  const full: CliService = {
    notices: [],
    openSetup: async () => undefined,
    prepare: async () => void calls.push('prepare'),
    listen: async () => ({ url: 'http://127.0.0.1:4242' }),
    watch(tell) {
      calls.push('watch');
      tell('Article: new field "tags"');
    },
    async policiesFromPermissions({ apply }) {
      calls.push(`apply ${apply}`);
      return [];
    },
    async importPolicies({ as, mediaType, dryRun }) {
      calls.push(`import policies as ${as}: ${mediaType}, dry run ${dryRun}`);
      return '2 created';
    },
    async exportPolicies(format) {
      calls.push(`export policies as ${format}`);
      return pieces('a\n', 'b\n');
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
      return pieces('{"row":3,"code":"VALUE_INVALID"}\n', '{"success":true,"data":{"rejected":1},"message":"1 imported"}\n');
    },
    async exportFile({ resource, as, query, body, tell }) {
      calls.push(`export ${resource} as ${as}: ${JSON.stringify([[...query], body])}`);
      tell(2);
      return pieces('a\n', 'b\n');
    },
    close: async () => void calls.push('close'),
    ...service,
  };
  const tables: CliTables = {
    plan: async () => NOTHING,
    async apply({ allow }) {
      calls.push(`apply ${allow}`);
      return { plan: NOTHING, done: [] };
    },
    history: async () => [],
    deletedRecords: async () => [],
    planPrune: async () => NOTHING,
    prune: async () => [],
    noteRestored: async () => void calls.push('noteRestored'),
    close: async () => void calls.push('close'),
    ...ofTables,
  };
  const context: CliContext = {
    version: '1.2.3',
    env,
    signals,
    readPassword: async () => 'the new password',
    openInput: async (path) => {
      calls.push(`open ${path}`);
      return pieces() as AsyncIterable<never>;
    },
    async writeOutput(path, open, { force }) {
      for await (const piece of await open()) calls.push(`write ${path}${force ? ' by force' : ''}: ${piece.trimEnd()}`);
    },
    print: (line) => void out.push(line),
    printError: (line) => void err.push(line),
    async createPrimary({ workers }) {
      calls.push(`primary ${workers}`);
      return {
        start: async () => ({ url: 'http://127.0.0.1:4242', notices: ['metrics are at http://127.0.0.1:9464/metrics'] }),
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
      if (backups === undefined) throw new Error('this test says no backups');
      return backups;
    },
    async verifyDecisions(config, { publicKey }) {
      made.push(config);
      calls.push(`verify by ${publicKey}`);
      if (verification === undefined) throw new SetupError('there is no record');
      return verification;
    },
    async pruneDecisions(config, { before, olderThan, isSure }) {
      made.push(config);
      calls.push(`prune ${before ?? olderThan}${isSure ? ', sure' : ''}`);
      return { before: '2026-01-01', entries: 3, chains: 2 };
    },
  };
  return { context, signals, out, err, calls, made };
}
