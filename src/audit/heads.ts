import { sql } from 'kysely';
import type { Transaction } from '../storage/index.ts';

/** An entry by its place, and what it was: the last of a chain when somebody looked. */
export interface Head {
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** The ends of the newest chains, so many at most, as this transaction sees them. */
export async function loadHeads(tx: Transaction, chains: number): Promise<readonly Head[]> {
  const rows = await tx.all<Head>(sql`
    select "_Decision"."writer", "_Decision"."sequence", "_Decision"."hash"
    from (select "id" from "_Chain" order by "id" desc limit ${chains}) as "newest"
    join "_Decision" on "_Decision"."writer" = "newest"."id"
      and "_Decision"."sequence" = (select max("sequence") from "_Decision" where "writer" = "newest"."id")
    order by "_Decision"."writer"`);
  return rows.map(({ writer, sequence, hash }) => ({ writer, sequence, hash }));
}
