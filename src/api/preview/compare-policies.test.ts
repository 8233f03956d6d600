import { expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { type PreviewPage, replayPages } from './compare-policies.ts';

const NONE = { examined: 0, same: 0, allowToDeny: 0, denyToAllow: 0, changed: 0, unknown: 0 };

/** Returns a page of a preview with one sample for each rule. */
function pageOf(entries: number, rules: readonly string[], nextCursor?: string): PreviewPage {
  const samples = rules.map((id) => ({
    ...{ change: 'allowToDeny' as const, count: 1, role: 'user', resource: 'Article', action: 'read' },
    live: { effect: 'allow', rule: { id } },
  }));
  return { data: { ...NONE, entries, examined: entries, allowToDeny: entries, samples }, nextCursor };
}

async function replay(pages: readonly PreviewPage[], maxEntries: number) {
  const requests: JsonObject[] = [];
  const load = async (request: JsonObject): Promise<PreviewPage> => {
    requests.push(request);
    return pages[requests.length - 1] ?? pageOf(0, []);
  };
  return { replayed: await replayPages(load, maxEntries), requests };
}

it('merges the samples of several pages that have the same change, role, resource, action and rules', async () => {
  const { replayed } = await replay([pageOf(2, ['a', 'b'], 'next'), pageOf(1, ['b'])], 100);
  expect(replayed.samples.map(({ count, live }) => [count, live?.rule?.id])).toEqual([
    [2, 'b'],
    [1, 'a'],
  ]);
  expect(replayed).toMatchObject({ examined: 3, allowToDeny: 3, isPartial: false });
});

it('keeps the most frequent changes, also those of a later page', async () => {
  const rare = Array.from({ length: 60 }, (_, index) => `rare ${index}`);
  const { replayed } = await replay([pageOf(60, rare, 'next'), pageOf(1, ['late'], 'last'), pageOf(1, ['late'])], 100);
  expect([replayed.samples.length, replayed.samples[0]?.live?.rule?.id]).toEqual([50, 'late']);
});

it('asks for further pages until the number of entries was replayed', async () => {
  const { replayed, requests } = await replay([pageOf(30, [], 'next'), pageOf(50, [], 'last'), pageOf(20, [], 'more')], 100);
  expect(requests.map(({ limit }) => limit)).toEqual([100, 70, 20]);
  expect(replayed).toMatchObject({ examined: 100, isPartial: true });
});
