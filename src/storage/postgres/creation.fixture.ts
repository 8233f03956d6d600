import { Problem } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import type { Database, Transaction } from '../contract.ts';
import { insertAfterLookups, insertRecord } from '../records.ts';
import { lookupsForInsertions } from '../related/insertion-lookups.ts';
import { lockReferences } from '../related/reference-checks.ts';
import { toRecord } from '../storage.fixture.ts';

/** A record to create. */
export interface Creation {
  readonly definitions: Definitions;
  readonly resource: Resource;
  readonly id: string;
  readonly values: JsonObject;
  /** Runs once, after the lookups. */
  readonly looked?: (() => Promise<unknown>) | undefined;
  /** Appends the log entry of this record. */
  append(tx: Transaction): void;
}

/** Creates a record as a request does, in a transaction of its own. Returns the number of runs. @throws Problem VALUE_INVALID */
export async function createRecord(database: Database, { definitions, resource, id, values, ...creation }: Creation): Promise<number> {
  let { looked } = creation;
  let runs = 0;
  await database.transaction(async (tx) => {
    runs++;
    tx.addToReadSet({ watch: new Map() });
    const lookups = tx.canBeOptimistic ? lookupsForInsertions(tx, definitions, [{ resource, values }]) : undefined;
    const found = lookups?.read(await tx.oneOfEach(lookups.queries));
    await looked?.();
    looked = undefined;
    const [issue] = await lockReferences(tx, { resource, definitions, found }, values);
    if (issue !== undefined) throw new Problem('VALUE_INVALID', issue.detail);
    const record = toRecord(id, values);
    if (found === undefined) await insertRecord(tx, resource, record);
    else await insertAfterLookups(tx, resource, { record, definitions, found });
    creation.append(tx);
  });
  return runs;
}
