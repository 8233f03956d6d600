import { SetupError } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import { listMigrations, planMigrationIn } from '../storage/index.ts';
import type { Endpoint } from './admin-endpoint.ts';
import { readCountQuery } from './admin-parsing.ts';

/** How tables follow definitions: what is still to be done, and what was. */
export const storageEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/storage/plan', handle: plan },
  { method: 'GET', path: '/storage/history', query: ['limit'], handle: history },
];

const PAGE = { default: 50, max: 1000 };

/** Against the files as they are now: what was put in force last may have come from others. */
async function plan({ tx, parts }: Parameters<Endpoint['handle']>[0]): ReturnType<Endpoint['handle']> {
  const read = readFiles(parts.readDefinitions);
  if ('mistakes' in read) return { status: 200, body: toSuccess({ steps: [], held: [], mistakes: read.mistakes }) };
  return { status: 200, body: toSuccess({ ...(await planMigrationIn(tx, read.definitions)), mistakes: [] }) };
}

async function history({ call, tx }: Parameters<Endpoint['handle']>[0]): ReturnType<Endpoint['handle']> {
  const evolutions = await listMigrations(tx, readCountQuery(call, 'limit', PAGE.max) ?? PAGE.default);
  return { status: 200, body: toSuccess(evolutions, { count: evolutions.length }) };
}

/** Files with mistakes ask for nothing; which mistakes those are is what there is to know. */
function readFiles(read: () => Definitions): { readonly definitions: Definitions } | { readonly mistakes: readonly string[] } {
  try {
    return { definitions: read() };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { mistakes: error.mistakes.length > 0 ? error.mistakes : [error.message] };
  }
}
