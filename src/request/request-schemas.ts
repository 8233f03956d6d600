import { type ActionName, BATCH_ACTIONS } from '../actions.ts';
import { memoize } from '../memoize.ts';
import type { RequestLimits } from './api-request.ts';
import {
  type ActionBodySchema,
  ANY_RECORD,
  actionBodySchema,
  batchBodySchema,
  importBodySchema,
  listQuerySchema,
} from './record-schemas.ts';

/** The schemas with which requests are validated. */
export interface RequestSchemas {
  readonly listQuery: ReturnType<typeof listQuerySchema>;
  readonly importBody: ReturnType<typeof importBodySchema>;
  readonly batchBody: ReturnType<typeof batchBodySchema>;
  readonly actionBodies: ReadonlyMap<ActionName, ActionBodySchema>;
}

/** The schemas by limits. A service has one object of limits. */
const schemas = new WeakMap<RequestLimits, RequestSchemas>();

/** Returns the schemas with these limits. They are created and compiled once, not for each request. */
export function requestSchemas(limits: RequestLimits): RequestSchemas {
  return memoize(schemas, limits, () => ({
    listQuery: listQuerySchema(limits, ANY_RECORD),
    importBody: importBodySchema(limits, ANY_RECORD),
    batchBody: batchBodySchema(limits),
    actionBodies: new Map([...BATCH_ACTIONS.values()].map((action) => [action.name, actionBodySchema(action, limits, ANY_RECORD)])),
  }));
}
