/** Texts of the differences between two versions of a policy. */
export const policyDiffTexts = {
  none: 'There are no differences.',
  kinds: { added: 'added', removed: 'removed', changed: 'changed', moved: 'moved' },
  before: 'Before',
  after: 'After',
  values: 'Values',
} as const;
