import { SetupError } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import { listMigrations, planMigrationIn } from '../storage/index.ts';
import type { AdminEndpoint } from './admin-endpoint.ts';
import { parseCountQuery } from './admin-parsing.ts';

/** Endpoints of migrations: the plan of pending steps, and the history. */
export const migrationEndpoints: readonly AdminEndpoint[] = [
  { method: 'GET', path: '/storage/plan', handle: plan },
  { method: 'GET', path: '/storage/history', query: ['limit'], handle: history },
];

const PAGE = { default: 50, max: 1000 };

/** Plans a migration to the current definition files, which may differ from the definitions in force. */
async function plan({ tx, deps }: Parameters<AdminEndpoint['handle']>[0]): ReturnType<AdminEndpoint['handle']> {
  const read = loadDefinitions(deps.readDefinitions);
  if ('mistakes' in read) return { status: 200, body: toSuccess({ steps: [], held: [], mistakes: read.mistakes }) };
  return { status: 200, body: toSuccess({ ...(await planMigrationIn(tx, read.definitions)), mistakes: [] }) };
}

async function history({ request, tx }: Parameters<AdminEndpoint['handle']>[0]): ReturnType<AdminEndpoint['handle']> {
  const migrations = await listMigrations(tx, parseCountQuery(request, 'limit', PAGE.max) ?? PAGE.default);
  return { status: 200, body: toSuccess(migrations, { count: migrations.length }) };
}

/** Returns the definitions of the definition files, or the mistakes in the files. */
function loadDefinitions(read: () => Definitions): { readonly definitions: Definitions } | { readonly mistakes: readonly string[] } {
  try {
    return { definitions: read() };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { mistakes: error.mistakes.length > 0 ? error.mistakes : [error.message] };
  }
}
