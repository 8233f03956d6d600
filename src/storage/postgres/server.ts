import type { Transaction } from '../database.ts';

/** The oldest server that is spoken to: 14. */
const OLDEST = 140_000;

/** What a server says of itself; null where it knows nothing of it, as those that only speak like PostgreSQL. */
export interface ServerFacts {
  readonly version: string;
  readonly number: string;
  readonly fsync: string | null;
  readonly fullPageWrites: string | null;
  readonly encoding: string | null;
  readonly standby: number;
  readonly schema: string | null;
}

/** What the server says of itself. */
export async function loadFacts(tx: Transaction): Promise<ServerFacts> {
  const facts = await tx.one<ServerFacts>({ sql: FACTS, parameters: [] });
  if (facts === undefined) throw new Error('the server said nothing of itself');
  return facts;
}

const FACTS = `SELECT current_setting('server_version') AS "version", current_setting('server_version_num') AS "number",
  current_setting('fsync', true) AS "fsync", current_setting('full_page_writes', true) AS "fullPageWrites",
  current_setting('server_encoding', true) AS "encoding", pg_is_in_recovery() AS "standby", current_schema() AS "schema"`;

/** In words, why a server is not one on which what was answered is safe, or that could keep what it is given; nothing where it will do. */
export function mistakesOf(facts: ServerFacts): readonly string[] {
  const mistakes: string[] = [];
  if (Number(facts.number) < OLDEST) mistakes.push(`expected PostgreSQL 14 or newer, found ${facts.version}`);
  if (facts.standby === 1) mistakes.push('it is a hot standby, which takes no writes; expected the address of the primary');
  if (facts.fsync === 'off') mistakes.push('fsync is off: a crash of the machine could lose what was answered; expected fsync = on');
  if (facts.fullPageWrites === 'off')
    mistakes.push('full_page_writes is off: a crash of the machine could tear pages; expected full_page_writes = on');
  if (facts.encoding !== null && facts.encoding !== 'UTF8')
    mistakes.push(`expected a database with the encoding UTF8, found ${facts.encoding}`);
  if (facts.schema === null) mistakes.push('there is no schema to make tables in: name one with ?schema= in the address');
  return mistakes;
}
