/** The sums of the pages of a preview. */
import type { Schemas } from '../../api/client.ts';

/** A page of a preview. */
export type PreviewPage = Schemas['admin.PolicyPreview'];

/** A group of decisions that change in the same way. */
export type PreviewSample = Schemas['admin.PreviewSample'];

/** The classes of decisions, those to look at first. */
export const CHANGES = ['allowToDeny', 'denyToAllow', 'changed', 'unknown'] as const;

const COUNTS = ['examined', 'same', 'filled', ...CHANGES] as const;

/** The sums of all pages so far. */
export type PreviewTotals = Readonly<Record<(typeof COUNTS)[number], number>> & { readonly samples: readonly PreviewSample[] };

/** The sums before the first page. */
export const NO_TOTALS: PreviewTotals = {
  examined: 0,
  same: 0,
  filled: 0,
  allowToDeny: 0,
  denyToAllow: 0,
  changed: 0,
  unknown: 0,
  samples: [],
};

/** Adds a page. Groups with the same change, caller, request and reasons become one. */
export function addPage(totals: PreviewTotals, page: PreviewPage): PreviewTotals {
  const groups = new Map(totals.samples.map((sample) => [groupOf(sample), sample]));
  for (const sample of page.samples) {
    const known = groups.get(groupOf(sample));
    groups.set(groupOf(sample), known === undefined ? sample : { ...known, count: known.count + sample.count });
  }
  const counts = Object.fromEntries(COUNTS.map((name) => [name, totals[name] + page[name]])) as Record<(typeof COUNTS)[number], number>;
  return { ...counts, samples: [...groups.values()].toSorted((one, other) => other.count - one.count) };
}

function groupOf({ change, role, resource, action, recorded, live, draft }: PreviewSample): string {
  return JSON.stringify([change, role, resource, action, recorded.ruleId, live?.rule?.id, draft?.rule?.id]);
}
