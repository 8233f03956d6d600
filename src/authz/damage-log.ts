import type { DamagedRow } from './policies/index.ts';

/** The damaged rows that were found at one revision. */
export interface DamageLog {
  rows(): readonly DamagedRow[];
  add(rows: readonly DamagedRow[]): void;
  /** Forgets all rows and adds these: a new revision may have repaired the others. */
  replace(rows: readonly DamagedRow[]): void;
}

/** Creates the list of the damaged rows that were found. Calls `onDamage` for each row that was not in the list. */
export function createDamageLog(onDamage: (row: DamagedRow) => void = () => undefined): DamageLog {
  let found = new Map<string, DamagedRow>();
  let logged = new Set<string>();
  const add = (rows: readonly DamagedRow[]): void => {
    for (const row of rows) {
      const key = `${row.table} ${row.id}`;
      found.set(key, row);
      if (!logged.has(key)) onDamage(row);
      logged.add(key);
    }
  };
  return {
    rows: () => [...found.values()],
    add,
    replace(rows) {
      logged = new Set(found.keys());
      found = new Map();
      add(rows);
    },
  };
}
