import { describe, expect, it } from 'vitest';
import { addPage, NO_TOTALS, type PreviewPage, type PreviewSample } from './preview-totals.ts';

const sample = (parts: Partial<PreviewSample>): PreviewSample => ({
  ...{ change: 'allowToDeny', role: 'editor', resource: 'Article', action: 'read', count: 1 },
  ...{ entry: { at: '2026-01-01T00:00:00Z', id: 'a' }, recorded: { allowed: true, reason: 'r' } },
  ...parts,
});

const page = (parts: Partial<PreviewPage>): PreviewPage => ({
  ...{ entries: 0, examined: 0, same: 0, filled: 0, allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0, samples: [] },
  ...parts,
});

describe('addPage', () => {
  it('adds the counts of all pages', () => {
    const totals = [page({ examined: 3, same: 2, unknown: 1 }), page({ examined: 2, allowToDeny: 2 })].reduce(addPage, NO_TOTALS);
    expect(totals).toMatchObject({ examined: 5, same: 2, unknown: 1, allowToDeny: 2 });
  });

  it('joins groups of the same request and change, the largest first', () => {
    const pages = [page({ samples: [sample({}), sample({ role: 'user', count: 2 })] }), page({ samples: [sample({ count: 4 })] })];
    expect(pages.reduce(addPage, NO_TOTALS).samples.map(({ role, count }) => [role, count])).toEqual([
      ['editor', 5],
      ['user', 2],
    ]);
  });

  it('keeps groups apart that another rule decided', () => {
    const recorded = sample({ recorded: { allowed: true, reason: 'r', ruleId: 'x' } });
    const decided = { effect: 'deny', reason: 'r', rule: { id: 'x' } } as NonNullable<PreviewSample['draft']>;
    const samples = [sample({}), recorded, sample({ live: decided }), sample({ draft: decided })];
    expect(addPage(NO_TOTALS, page({ samples })).samples).toHaveLength(4);
  });
});
