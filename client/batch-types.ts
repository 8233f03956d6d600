/** The types of batches: their requests, and a result for each of them. */
import type { DeletionPreview, Problem, ResourceDescription } from './generated/service-types.ts';
import type {
  ChangedRecord,
  CreateOf,
  ExpansionOf,
  FieldOf,
  FilterOf,
  ListQuery,
  Page,
  RecordOf,
  Selected,
  UpdateOf,
} from './resource-types.ts';

/** A request on the resource `N`. `$0.id` stands for the id that request 0 returned. */
type RequestOn<N, T> = { readonly resource: N } & (
  | { readonly action: 'create'; readonly data: CreateOf<T> }
  | { readonly action: 'read'; readonly id: string; readonly fields?: readonly FieldOf<T>[]; readonly expand?: readonly ExpansionOf<T>[] }
  | { readonly action: 'update'; readonly id: string; readonly data: UpdateOf<T>; readonly ifMatch?: number }
  | {
      readonly action: 'delete';
      readonly id: string;
      readonly ifMatch?: number;
      /** True to return what the deletion would do, without deleting. */
      readonly dryRun?: boolean;
    }
  | { readonly action: 'restore'; readonly id: string; readonly ifMatch?: number }
  | ({ readonly action: 'list' } & BatchQuery<T>)
  | ({ readonly action: 'listDeleted' } & BatchQuery<T>)
  | ({ readonly action: 'export' } & Omit<BatchQuery<T>, 'expand'>)
  | { readonly action: 'import'; readonly data: readonly CreateOf<T>[] }
  | { readonly action: 'schema' }
  | { readonly action: 'createIfNotExists'; readonly filter: FilterOf<T>; readonly data: CreateOf<T> }
  | {
      readonly action: 'updateIfExists';
      readonly filter: FilterOf<T>;
      readonly data: UpdateOf<T>;
      /** True if the request may match no record in an atomic batch. */
      readonly optional?: boolean;
    }
);

type BatchQuery<T> = Omit<ListQuery<T, FieldOf<T>, ExpansionOf<T>>, 'signal'> & {
  /** Number of records to skip; not with `cursor`. */
  readonly offset?: number | undefined;
};

/** A request of a batch. */
export type BatchRequest<Resources> = { [N in keyof Resources]: RequestOn<N, Resources[N]> }[keyof Resources];

/** A request `Q` with the type `never` for each member that its action, its record or its filter does not have. Type parameters accept such members. */
export type ExactRequest<Resources, Q> = Q extends { readonly resource: infer N extends keyof Resources; readonly action: infer A }
  ? Exact<Extract<RequestOn<N, Resources[N]>, { readonly action: A }>, Q> & NotEmpty<Q>
  : Q;

/** The type `never` for a request with an empty list of names, which the service refuses. */
type NotEmpty<Q> = Q extends { readonly fields: readonly [] } | { readonly expand: readonly [] } ? never : unknown;

type Exact<Allowed, Given> = unknown extends Allowed
  ? Given
  : Given extends readonly unknown[]
    ? { readonly [I in keyof Given]: Exact<ItemOf<Allowed>, Given[I]> }
    : Given extends object
      ? { readonly [K in keyof Given]: K extends NameOf<Allowed> ? Exact<ValueOf<Allowed, K>, Given[K]> : never }
      : Given;

/** The names of the members of any alternative that is an object. */
type NameOf<Union> = Union extends readonly unknown[] ? never : Union extends object ? keyof Union : never;
type ValueOf<Union, K> = Union extends object ? (K extends keyof Union ? Union[K] : never) : never;
type ItemOf<Union> = Union extends readonly (infer Item)[] ? Item : never;

/** A record as `fields` and `expand` of the request `Q` select it. */
type SelectedBy<Resources, T, Q> = Selected<Resources, T, NamesIn<Q, 'fields'>, NamesIn<Q, 'expand'>>;
type NamesIn<Q, M extends string> = Q extends { readonly [K in M]: readonly (infer Name extends string)[] } ? Name : never;

/** The members of a successful response to the request `Q` with the action `A` on a resource. */
type ResponseTo<Resources, T, Q, A> = A extends 'list' | 'listDeleted' | 'export'
  ? Page<SelectedBy<Resources, T, Q>>
  : A extends 'create'
    ? { readonly data: RecordOf<T> }
    : A extends 'createIfNotExists'
      ? { readonly data: RecordOf<T>; readonly created: boolean }
      : A extends 'read'
        ? { readonly data: SelectedBy<Resources, T, Q> }
        : A extends 'update'
          ? { readonly data: RecordOf<T> | ChangedRecord }
          : A extends 'updateIfExists'
            ? { readonly data: RecordOf<T> | ChangedRecord | null; readonly updated: boolean }
            : A extends 'import'
              ? { readonly data: readonly string[]; readonly count: number; readonly message: string }
              : A extends 'schema'
                ? { readonly data: ResourceDescription }
                : A extends 'delete'
                  ? DeletionOf<Q> & { readonly message: string }
                  : { readonly data: { readonly id: string }; readonly message: string };

/** The data of a deletion, or of its preview. */
type DeletionOf<Q> = Q extends { readonly dryRun: true }
  ? { readonly data: DeletionPreview }
  : Q extends { readonly dryRun?: false }
    ? { readonly data: { readonly id: string } }
    : { readonly data: { readonly id: string } | DeletionPreview };

/** The members of each result. */
interface Outcome {
  /** The status of the response as a single request. */
  readonly status: number;
  /** The id of the audit entry of the decision. */
  readonly decisionId?: string;
}

/** The result of a request of a batch: the members of its response as a single request, or its problem. */
export type BatchResult<Resources, Q> =
  | (Outcome & { readonly success: true } & (Q extends { readonly resource: infer N extends keyof Resources; readonly action: infer A }
        ? ResponseTo<Resources, Resources[N], Q, A>
        : { readonly data: unknown }))
  | (Outcome & { readonly success: false; readonly error: Problem });
