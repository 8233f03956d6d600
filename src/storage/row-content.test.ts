import fc from 'fast-check';
import { expect, it } from 'vitest';
import { POLICY_TABLES } from './policy-tables.ts';
import { coveredColumnsOf, fromContent, toContent } from './row-content.ts';

const { policy, rule } = POLICY_TABLES;

/** Texts that look like other parts of a content, or whose characters take two units. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ';', '}', ';}', ':', 'id:1:x;', '_PolicyRule{id:1:x;}', '5:', '\u{1f511}', '\ud83d', '{"a":[1]}'),
);

const rowOf = (table: typeof policy) =>
  fc.record(
    Object.fromEntries(
      coveredColumnsOf(table).map(({ name, type }) => [name, type === 'text' || type === 'json' ? text : fc.integer()] as const),
    ),
    { requiredKeys: [] },
  );

it('restores every row of a policy and its rules from the content that the checksum covers', () => {
  fc.assert(
    fc.property(rowOf(policy), fc.array(rowOf(rule), { maxLength: 3 }), (row, rules) => {
      const stored = { table: policy, row, parts: rules.map((part) => ({ table: rule, row: part })) };
      expect(fromContent(toContent(stored), policy, rule)).toEqual(stored);
    }),
  );
});
