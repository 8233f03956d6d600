/** The answers to "who can" under the policies in force and under a draft, side by side. */
import type { Schemas } from '../../api/client.ts';

/** A role or a user that may perform an action, as an answer lists it. */
export type Possible = Pick<Schemas['admin.RoleWhoCan'], 'effect' | 'policy' | 'residual' | 'rule' | 'when'>;

/** A part of an answer. */
interface Listed<Item> {
  readonly items: readonly Item[];
  /** False if further pages are not loaded yet. */
  readonly isComplete: boolean;
}

/** The part of both answers. */
interface BothAnswers<Item> {
  readonly live: Listed<Item>;
  readonly drafted: Listed<Item>;
}

/** A role or user that at least one of the answers lists. */
export interface WhoCanChange<Item> {
  readonly key: string;
  /** Undefined if the policies in force deny the action. */
  readonly live: Item | undefined;
  /** Undefined if the draft denies the action. */
  readonly drafted: Item | undefined;
  readonly isChanged: boolean;
}

/** Compares the roles of both answers, in their order. Roles that only the draft allows come last. */
export function compareRoles<Item extends Possible & { readonly role: string }>(
  live: readonly Item[],
  drafted: readonly Item[],
): readonly WhoCanChange<Item>[] {
  return compare(live, drafted, ({ role }) => role);
}

/** Compares the users of both answers, which list them by their ids, up to the last user that both have reached. */
export function compareUsers<Item extends Possible & { readonly id: string }>({
  live,
  drafted,
}: BothAnswers<Item>): readonly WhoCanChange<Item>[] {
  const ends = [live, drafted].filter(({ isComplete }) => !isComplete).map(({ items }) => items.at(-1)?.id ?? '');
  return compare(live.items, drafted.items, ({ id }) => id)
    .filter(({ key }) => ends.every((end) => key <= end))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

function compare<Item extends Possible>(
  live: readonly Item[],
  drafted: readonly Item[],
  keyOf: (item: Item) => string,
): readonly WhoCanChange<Item>[] {
  const [present, next] = [live, drafted].map((items) => new Map(items.map((item) => [keyOf(item), item])));
  return [...new Set([...live, ...drafted].map(keyOf))].map((key) => {
    const [before, after] = [present?.get(key), next?.get(key)];
    return { key, live: before, drafted: after, isChanged: before?.effect !== after?.effect || before?.when !== after?.when };
  });
}
