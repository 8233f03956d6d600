import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { createMistakes } from './mistakes.ts';
import type { ApiRequest, FilterItem } from './request.ts';

/** `$0.id`: the id of the record that an earlier request gave. With a further `$` in front it is text: `$$0.id` means `$0.id`. */
const REFERENCE = /^(\$+)(0|[1-9]\d*)\.id$/;

/** Actions that return one record. */
const GIVES_RECORD: ReadonlySet<string> = new Set(['create', 'read', 'update', 'createIfNotExists', 'updateIfExists']);

/** Checks that a request refers only to earlier requests that return a record. Throws a Problem with every mistake. */
export function checkItemReferences(request: ApiRequest, earlier: readonly { readonly request: ApiRequest | Problem }[]): void {
  const mistakes = createMistakes('REQUEST_MALFORMED');
  for (const [text, path] of referencesIn(request)) {
    const index = toIndex(text);
    if (index === undefined) continue;
    const target = earlier[index]?.request;
    if (target === undefined)
      mistakes.add(path, 'range', `expected ${text.slice(0, 64)} to refer to an earlier request; as text, it is written with a second $`);
    else if (!(target instanceof Problem) && !GIVES_RECORD.has(target.action))
      mistakes.add(
        path,
        'type',
        `expected ${text} to refer to a request that gives one record, request ${index} is of the action ${target.action}`,
      );
  }
  mistakes.refuse();
}

/** Replaces the references of a request by ids, and removes the escape of escaped texts. */
export function fillItemReferences(request: ApiRequest, idOf: (index: number) => string): ApiRequest {
  if (referencesIn(request).next().done === true) return request;
  const fill = (text: string): string => {
    if (!REFERENCE.test(text)) return text;
    const index = toIndex(text);
    return index === undefined ? text.slice(1) : idOf(index);
  };
  const inItems = (items: readonly FilterItem[]): readonly FilterItem[] =>
    items.map((item) => ({ ...item, value: fillIn(item.value, fill) }));
  const { id, data, filter, where } = request;
  return {
    ...request,
    ...(id !== undefined && { id: fill(id) }),
    ...(data !== undefined && { data: fillIn(data, fill) }),
    ...(filter !== undefined && { filter: inItems(filter) }),
    where: inItems(where),
  };
}

function toIndex(text: string): number | undefined {
  const [, marks, index] = REFERENCE.exec(text) ?? [];
  return marks === '$' ? Number(index) : undefined;
}

type Found = readonly [text: string, path: string];

/** Finds references and escaped references in the values of id, data, filter and where, each with its path. */
function* referencesIn({ id, data, filter = [], where }: ApiRequest): Generator<Found, undefined> {
  if (id !== undefined) yield* referencesAt(id, 'id');
  if (data !== undefined) yield* referencesAt(data, 'data');
  for (const { field, value } of filter) yield* referencesAt(value, `filter.${field}`);
  for (const { field, value } of where) yield* referencesAt(value, `where.${field}`);
}

/** Walks values recursively: the nesting of a body is bounded before it is parsed. */
function* referencesAt(value: Json, path: string): Generator<Found, undefined> {
  if (typeof value === 'string') {
    if (REFERENCE.test(value)) yield [value, path];
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) yield* referencesAt(each as Json, `${path}.${name.slice(0, 64)}`);
  }
}

function fillIn(value: Json, fill: (text: string) => string): Json {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((each: Json) => fillIn(each, fill));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillIn(each as Json, fill)]));
}
