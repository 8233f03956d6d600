/** The rows of policies and their rules, and the policies in them. */
import { jsonMayReadOthers, type Policy, type PolicyRule, type UnparsedPolicy } from '../authz/policies/index.ts';
import type { Row } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { POLICY_TABLES, selectRows, toValue } from './policy-tables.ts';
import { fromContent, type TableRow } from './row-content.ts';

/**
 * Loads the rows of policies, of all if `where` is undefined, with the rows of their rules in order as parts. All policies are loaded without
 * an order, and their rules are sorted here: sorting a hundred thousand rows takes the database as long as reading them.
 */
export async function selectPolicyRows(tx: Transaction, where?: Sql): Promise<readonly TableRow[]> {
  const ofThese = where && sql`"policyId" IN (SELECT "id" FROM "_Policy" WHERE ${where})`;
  const [policies, rules] = await Promise.all([
    selectRows(tx, POLICY_TABLES.policy, where && { where, orderBy: ['createdAt', 'id'] }),
    selectRows(tx, POLICY_TABLES.rule, ofThese && { where: ofThese, orderBy: ['policyId', 'position'] }),
  ]);
  return joinRules(policies, rules);
}

/** Policies whose rows are loaded together. */
const PAGE = 1000;

/**
 * Passes on the rows of all policies in pages, with the rows of their rules in order as parts. The rows of one page are released before the
 * next page is loaded: the garbage collector would copy the rows of a hundred thousand policies several times. A damaged index can hide rows.
 */
export async function eachPolicyPage(tx: Transaction, receive: (rows: readonly TableRow[]) => void): Promise<void> {
  let after: string | undefined;
  do {
    const last = await loadLastId(tx, after);
    const within = inRange(after, last);
    const [policies, rules] = await Promise.all([
      selectRows(tx, POLICY_TABLES.policy, { where: within('id'), orderBy: ['id'] }),
      selectRows(tx, POLICY_TABLES.rule, { where: within('policyId'), orderBy: ['policyId'] }),
    ]);
    receive(joinRules(policies, rules));
    after = last;
  } while (after !== undefined);
}

/** Returns the last id of the page after an id; undefined if it is the last page. The index has it even if the id in the row is damaged. */
async function loadLastId(tx: Transaction, after: string | undefined): Promise<string | undefined> {
  const rest = inRange(after, undefined)('id');
  const last = await tx.one<{ readonly id: string }>(
    sql`SELECT "id" FROM "_Policy" WHERE ${rest} ORDER BY "id" LIMIT 1 OFFSET ${PAGE - 1}`,
  );
  return last?.id;
}

/** Returns the condition for the values of a column after `from` and up to `to`; undefined is no bound. */
function inRange(from: string | undefined, to: string | undefined): (column: string) => Sql {
  const bound = (limit: string | undefined, comparison: Sql): Sql => (limit === undefined ? sql`1 = 1` : sql`${comparison} ${limit}`);
  return (column) => sql`${bound(from, sql`${sql.ref(column)} >`)} AND ${bound(to, sql`${sql.ref(column)} <=`)}`;
}

function joinRules(policies: readonly Row[], rules: readonly Row[]): readonly TableRow[] {
  const { policy, rule } = POLICY_TABLES;
  const parts = new Map(policies.map(({ id }) => [id, [] as TableRow[]]));
  for (const row of rules) parts.get(row['policyId'])?.push({ table: rule, row });
  return policies.map((row) => ({ table: policy, row, parts: inOrder(parts.get(row['id']) ?? []) }));
}

function inOrder(rules: TableRow[]): readonly TableRow[] {
  return rules.length < 2 ? rules : rules.sort((a, b) => Number(a.row['position']) - Number(b.row['position']));
}

/** Converts the rows of a policy and its rules. */
export function toPolicy(stored: TableRow): Policy {
  const policy = toValue<LoadedPolicy>(stored);
  // The loaded object is completed and not copied: a start loads a hundred thousand of them.
  policy.rules = (stored.parts ?? []).map((rule) => toValue<PolicyRule>(rule, 'position'));
  return policy;
}

/** A policy as the text that its checksum covers. One string takes the garbage collector less time than the objects of a policy. */
class StoredPolicy implements UnparsedPolicy {
  readonly id: string;
  readonly isActive: boolean;
  readonly resources: readonly string[];
  readonly #content: string;

  constructor({ row, parts = [] }: TableRow, content: string) {
    this.id = String(row['id']);
    this.isActive = isTrue(row['isActive']);
    this.resources = parts.filter(({ row: rule }) => isTrue(rule['isActive'])).map(({ row: rule }) => String(rule['resource']));
    this.#content = content;
  }

  parse(): Policy {
    return toPolicy(fromContent(this.#content, POLICY_TABLES.policy, POLICY_TABLES.rule));
  }
}

function isTrue(stored: unknown): boolean {
  return Number(stored) === 1;
}

/** Returns a policy that is parsed later, from its rows and the content that its checksum covers; parses it now if its rules may read other records. */
export function toUnparsedPolicy(stored: TableRow, content: string): Policy | UnparsedPolicy {
  const isSimple = ({ row: { conditions } }: TableRow): boolean => typeof conditions === 'string' && !jsonMayReadOthers(conditions);
  return stored.parts?.every(isSimple) === true ? new StoredPolicy(stored, content) : toPolicy(stored);
}

/** A policy without its rules, which are added to the loaded object. */
export type LoadedPolicy = Omit<Policy, 'rules'> & { rules: readonly PolicyRule[] };
