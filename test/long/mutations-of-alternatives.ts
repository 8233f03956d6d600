/** Deliberate defects of lists that are read from alternatives of their condition. */
import type { Mutation } from './mutation.ts';

const FILE = 'src/storage/list-alternatives.ts';
const RED = 'src/storage/list-alternatives.test.ts';
const SAME = 'alternatives of a list lists the same records as one filter:';
const ONE = 'alternatives of a list lists with one filter:';

export const MUTATIONS_OF_ALTERNATIVES: readonly Mutation[] = [
  {
    name: 'a record of two alternatives is listed twice',
    file: FILE,
    find: 'sql` UNION `',
    replace: 'sql` UNION ALL `',
    red: RED,
    test: `${SAME} two fields`,
  },
  {
    name: 'the conditions on all alternatives are left out',
    file: FILE,
    find: 'const parts = [...others, ...own];',
    replace: 'const parts = [...own];',
    red: RED,
    test: `${SAME} two fields with a filter`,
  },
  {
    name: 'an alternative reads as many records as the page, without those of the offset',
    file: FILE,
    find: 'LIMIT ${limit + offset}',
    replace: 'LIMIT ${limit}',
    red: RED,
    test: `${SAME} an offset`,
  },
  {
    name: 'an alternative without an index is left out',
    file: FILE,
    find: 'if (isUseful && found.length === choices.length) return found;',
    replace: 'if (isUseful) return found;',
    red: RED,
    test: `${ONE} a field without an index`,
  },
  {
    name: 'an order in two directions counts as that of an index',
    file: FILE,
    find: 'order.every(({ descending }) => descending === order[0]?.descending) &&',
    replace: '',
    red: RED,
    test: `${ONE} an order in two directions`,
  },
  {
    name: 'a partial index counts as one of all records',
    file: 'src/resources/resource-indexes.ts',
    find: 'if (where !== undefined || first <= 0) return false;',
    replace: 'if (first <= 0) return false;',
    red: RED,
    test: `${ONE} an order with a partial index`,
  },
  {
    name: 'the alternatives of one order are those of another order',
    file: FILE,
    find: "memoize(alternatives, sortedFields(list).join(' '), ",
    replace: "memoize(alternatives, '', ",
    red: RED,
    test: 'alternatives of a list finds the alternatives of a condition on other records for each order',
  },
  {
    name: 'a filter by an index is compared in each alternative',
    file: FILE,
    find: 'if (others.some((other) => isSelective(other, list))) continue;',
    replace: '',
    red: RED,
    test: `${ONE} a filter by an index`,
  },
  {
    name: 'alternatives are read without a limit of related records',
    file: FILE,
    find: 'sql` WHERE ${joinAll(conditions)}`',
    replace: 'sql``',
    red: RED,
    test: 'alternatives of a list reads no alternative if the caller has more related records than the limit',
    onPostgres: true,
  },
  {
    name: 'the records of a value are listed once for each related record',
    file: 'src/conditions/compile-related.ts',
    find: 'sql`DISTINCT `',
    replace: 'sql``',
    red: RED,
    test: `${SAME} as a member`,
    onPostgres: true,
  },
  {
    name: 'a page ends if its alternatives were not read',
    file: 'src/storage/list-rows.ts',
    find: 'if (found.length > 0 || !alternatives.isConditional) return found;',
    replace: 'return found;',
    red: RED,
    test: 'alternatives of a list lists all records if a related record is deleted between two statements',
    onPostgres: true,
  },
  {
    name: 'the values of alternatives are not limited',
    file: FILE,
    find: ' || compiled.values * choices.length > MAX_VALUES',
    replace: '',
    red: RED,
    test: 'alternatives of a list splits no condition whose values would be bound many times',
  },
  {
    name: 'alternatives of deleted records count on unique indexes',
    file: FILE,
    find: "list.existence === 'deleted' || ",
    replace: '',
    red: RED,
    test: `${ONE} deleted records`,
  },
];
