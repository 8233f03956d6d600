/** The values of the record that denied an update, as words: an update is decided on the stored record and on the record that it would store. */
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import type { ConditionTrace } from './condition-words.ts';

const texts = decisionsTexts.values;

/** A denied update. */
export interface DeniedUpdate {
  /** The names of the fields that the request gives values for. */
  readonly fields: readonly string[];
  /** True if the decision was on the record as the update would store it; false if the audit log does not say on which of the two. */
  readonly isOfChanged: boolean;
}

/** Returns the denied update of an audit entry; undefined if the entry is of another request. */
export function toDeniedUpdate({
  kind,
  action,
  allowed,
  facts = {},
}: Pick<Schemas['admin.Decision'], 'kind' | 'action' | 'allowed' | 'facts'>): DeniedUpdate | undefined {
  if (kind !== 'access' || action !== 'update' || allowed || !Array.isArray(facts['fields'])) return undefined;
  return { fields: facts['fields'].map(String), isOfChanged: facts['changedRecord'] === true };
}

/** Returns the words before the value that a comparison has found: `the value is`, or that the request would store it. */
export function wordsBeforeValue({ field = '' }: Pick<ConditionTrace, 'field'>, update: DeniedUpdate | undefined): string {
  const path = changedPath(field, update);
  if (path === undefined) return texts.is;
  if (update?.isOfChanged !== true) return texts.ofEither;
  return path.includes('.') ? texts.afterChange : texts.change(path);
}

/** Returns the words of a comparison that has found no value because the request would remove it; undefined for another reason. */
export function wordsOfRemoval({ field = '' }: Pick<ConditionTrace, 'field'>, update: DeniedUpdate | undefined): string | undefined {
  const path = changedPath(field, update);
  return path === undefined || update?.isOfChanged !== true ? undefined : texts.remove(path);
}

/** Returns the path of a value that an update changes, without `resource`; undefined if it does not change the value. */
function changedPath(field: string, update: DeniedUpdate | undefined): string | undefined {
  const [group, name = '', ...inner] = field.split('.');
  return group === 'resource' && update?.fields.includes(name) === true ? [name, ...inner].join('.') : undefined;
}
