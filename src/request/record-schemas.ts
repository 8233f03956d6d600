/**
 * The schemas of requests for records.
 *
 * The schemas of values and filters depend on the resource. Requests are validated with `ANY_RECORD`, before the definitions are known; the OpenAPI
 * document shows the forms of each resource.
 */
import type { Action, ActionInput } from '../actions.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { described, Input, type ObjectSchema, OneOf, type Schema, type SchemaOf, Type } from '../schemas/index.ts';
import type { RequestLimits } from './api-request.ts';
import type { WhereNode } from './where.ts';

/** The schemas of the parts of a request that depend on its resource. */
export interface RecordForms {
  /** Comparisons by field, of a list. */
  readonly where: SchemaOf<WhereNode>;
  /** Comparisons by field, at least one, of createIfNotExists and updateIfExists. */
  readonly filter: SchemaOf<Json>;
  /** The field names of `sort`, as text. */
  readonly sort: SchemaOf<string>;
  /** An item of `sort` in a body: a field name, with a leading `-` for descending order. */
  readonly sortKey: SchemaOf<string>;
  /** An item of `fields` in a body. */
  readonly field: SchemaOf<string>;
  /** An item of `expand` in a body. */
  readonly expansion: SchemaOf<string>;
  /** The values of a new record. */
  readonly create: SchemaOf<JsonObject>;
  /** The changed values of a record. */
  readonly update: SchemaOf<JsonObject>;
  /** A row of an import. */
  readonly row: SchemaOf<JsonObject>;
}

/** Maximum characters of an id. */
const MAX_ID = 256;
const MAX_OFFSET = 1_000_000_000;
/** Maximum characters of a cursor. A cursor with 1,000 characters of sort values, of three bytes each, has about 4,200 characters in base64. */
export const MAX_CURSOR_LENGTH = 5000;
/** Maximum characters of names with commas between them. */
const MAX_NAMES_LENGTH = 8192;
/** Maximum number of names in `fields`: more than any resource has. */
export const MAX_FIELDS = 256;
/** Maximum number of items in `expand`. */
export const MAX_EXPANDED = 5;
/** Maximum characters of the name of a resource, an action or a field. */
const MAX_NAME = 200;

/** The name of a resource, an action or a field. */
export const NAME = Type.String({ minLength: 1, maxLength: MAX_NAME });

const OBJECT = Type.Unsafe<JsonObject>({ type: 'object' });
const ANY_TEXT = Type.Unsafe<string>({ type: 'string' });

/** The forms of any resource. `where` and `filter` are only described, because their parsers validate them. The values of a record are any object. */
export const ANY_RECORD: RecordForms = {
  where: described<WhereNode>({ type: 'object' }),
  filter: described<Json>({ type: 'object' }),
  sort: Type.Unsafe<string>({ type: 'string', maxLength: MAX_NAMES_LENGTH }),
  sortKey: ANY_TEXT,
  field: ANY_TEXT,
  expansion: ANY_TEXT,
  create: OBJECT,
  update: OBJECT,
  row: OBJECT,
};

const EXPAND =
  'References to expand, comma-separated. `name:Resource.field(20)` adds up to 20 records of a resource that reference this record by a field. A record is included only if the caller may `read` it.';

/** The parameters of a query that choose the projection. */
const PROJECTION_QUERY = {
  fields: Type.Optional(
    Type.String({ maxLength: MAX_NAMES_LENGTH, description: 'Fields to return in addition to the id, comma-separated. Default: all.' }),
  ),
  expand: Type.Optional(
    Type.String({ maxLength: MAX_NAMES_LENGTH, description: EXPAND, examples: ['authorId,comments:Comment.articleId(20)'] }),
  ),
};

const OFFSET = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_OFFSET,
    description: 'Number of records to skip. For large tables use `cursor`, whose cost does not depend on the depth.',
  }),
);

const CURSOR = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: MAX_CURSOR_LENGTH,
    description: '`nextCursor` of the previous page. Filter, sort and caller must be the same.',
  }),
);

const TOTAL = Type.Optional(
  Type.Boolean({ description: 'If true, the response contains the number of all matching records. Default: false.' }),
);

/** Returns the schema of `limit`. Pages of exports are larger. */
function limitOf(action: 'list' | 'export', { pageMax, exportMax }: Pick<RequestLimits, 'pageMax' | 'exportMax'>) {
  const [range, description] =
    action === 'list'
      ? [{ minimum: 0, maximum: pageMax }, 'Maximum number of records in the page; 0 for `total` alone. Default: 50.']
      : [{ minimum: 1, maximum: exportMax }, 'Maximum number of records in the page. Default: the maximum; with `format`, all records.'];
  return Type.Optional(Type.Integer({ ...range, description }));
}

/** Returns the schema of the query of `GET /api/:resource`. */
export function listQuerySchema(
  limits: Pick<RequestLimits, 'pageMax' | 'exportMax'>,
  { where, sort }: Pick<RecordForms, 'where' | 'sort'>,
) {
  return Input({
    where: Type.Optional(where),
    sort: Type.Optional(
      Type.Unsafe<string>({ ...sort, description: 'Field names, comma-separated. A leading `-` sorts in descending order.' }),
    ),
    limit: limitOf('list', limits),
    offset: OFFSET,
    cursor: CURSOR,
    total: TOTAL,
    ...PROJECTION_QUERY,
    deleted: Type.Optional(
      Type.Boolean({ description: 'List the soft-deleted records instead (the action `listDeleted`). Default: false.' }),
    ),
  });
}

/** The schema of the query of `GET /api/:resource/:id`. */
export const READ_QUERY = Input(PROJECTION_QUERY);

const ID = Type.String({ minLength: 1, maxLength: MAX_ID, format: 'text', description: 'Id of the record.' });

const DRY_RUN = Type.Optional(
  Type.Boolean({ description: 'Delete nothing, and return what the deletion would delete and change. Default: false.' }),
);

/** The schema of the query of `DELETE /api/:resource/:id`. */
export const DELETE_QUERY = Input({ dryRun: DRY_RUN });

const IF_MATCH = Type.Optional(
  described<Json>({ type: ['integer', 'string'], description: 'Version of the record that the caller has read, or its ETag.' }),
);

/** Returns the members of actions, by name. Each is created when it is read, because an action takes few of them. */
function actionMembers({ name, decides }: Pick<Action, 'name' | 'decides'>, limits: RequestLimits, forms: RecordForms) {
  return {
    id: ID,
    get data() {
      if (name === 'import') return Type.Unsafe<Json>(Type.Array(forms.row, { minItems: 1, maxItems: limits.importRows }));
      return Type.Unsafe<Json>(decides === 'update' ? forms.update : forms.create);
    },
    filter: forms.filter,
    get where() {
      return Type.Optional(forms.where);
    },
    get sort() {
      return Type.Optional(names(forms.sortKey, { maxItems: limits.sortKeys }, 'Field names. A leading `-` sorts in descending order.'));
    },
    get limit() {
      return limitOf(name === 'export' ? 'export' : 'list', limits);
    },
    offset: OFFSET,
    cursor: CURSOR,
    total: TOTAL,
    get fields() {
      return Type.Optional(names(forms.field, { minItems: 1, maxItems: MAX_FIELDS }, 'Fields to return in addition to the id.'));
    },
    get expand() {
      return Type.Optional(names(forms.expansion, { minItems: 1, maxItems: MAX_EXPANDED }, 'References to expand.'));
    },
    ifMatch: IF_MATCH,
    dryRun: DRY_RUN,
  } satisfies Record<ActionInput, Schema>;
}

function names(
  items: SchemaOf<string>,
  bounds: { readonly minItems?: number; readonly maxItems: number },
  description: string,
): SchemaOf<Json> {
  return described<Json>({
    type: 'array',
    items,
    ...bounds,
    description: `${description} A text as in the query string is also accepted.`,
  });
}

/** The schema of the body of an action. It contains only the members that the action takes. */
export type ActionBodySchema = ObjectSchema<ReturnType<typeof actionMembers>>;

/** Returns the schema of the body of `POST /api/:resource/:action`, and of the members of such a request in a batch. */
export function actionBodySchema(action: Pick<Action, 'name' | 'decides' | 'takes'>, limits: RequestLimits, forms: RecordForms) {
  const members = actionMembers(action, limits, forms);
  const taken = Object.fromEntries(action.takes.map((member) => [member, members[member]]));
  return Input(taken) as unknown as ActionBodySchema;
}

const IMPORT_OPTIONS = {
  mode: Type.Optional(
    OneOf(['create', 'upsert'], { description: 'With `upsert`, a row changes the stored record with the same key. Default: create.' }),
  ),
  key: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'The unique field that identifies records, for `upsert`.' }),
  ),
  dryRun: Type.Optional(Type.Boolean({ description: 'Decide and validate every row, but store nothing. Default: false.' })),
  onError: Type.Optional(OneOf(['stop', 'skip'], { description: 'After a rejected row: stop, or skip it and continue. Default: stop.' })),
  atomic: Type.Optional(
    Type.Boolean({
      description: 'Import all rows or none. Default: false for a file; true for rows in `data`, except with `onError: skip`.',
    }),
  ),
  progress: Type.Optional(
    Type.Boolean({ description: 'Return NDJSON with a line of counts after each batch of rows that was committed. Default: false.' }),
  ),
};

/** The names of the options of an import. */
export const IMPORT_OPTION_NAMES: ReadonlySet<string> = new Set(Object.keys(IMPORT_OPTIONS));

const CELL_OPTIONS = {
  delimiter: Type.Optional(OneOf([',', ';', 'tab', '\t'], { description: 'Delimiter of CSV. Default: a comma.' })),
  escape: Type.Optional(
    Type.Boolean({ description: 'CSV: prefix texts with an apostrophe that a spreadsheet would run as formulas. Default: true.' }),
  ),
};

/** The schema of the query of `POST /api/:resource/import`, for a body that is a file. */
export const IMPORT_QUERY = Input({ ...IMPORT_OPTIONS, ...CELL_OPTIONS });

/** Returns the schema of the JSON object of `POST /api/:resource/import`: the rows with the options. */
export function importBodySchema({ importRows }: Pick<RequestLimits, 'importRows'>, { row }: Pick<RecordForms, 'row'>) {
  return Input({ data: Type.Array(row, { minItems: 1, maxItems: importRows }), ...IMPORT_OPTIONS });
}

/** Returns the schema of the query of `POST /api/:resource/export`. */
export function exportQuerySchema(formats: readonly string[]) {
  return Input({
    format: Type.Optional(OneOf(formats, { description: 'Return a file with all records in this format.' })),
    ...CELL_OPTIONS,
  });
}

/** Returns the schema of the body of `POST /api/batch`. Each request is parsed separately, so `request` should only describe it. */
export function batchBodySchema({ batchItems }: Pick<RequestLimits, 'batchItems'>, request: SchemaOf<Json> = described<Json>({})) {
  return Input({
    requests: Type.Array(request, { minItems: 1, maxItems: batchItems }),
    atomic: Type.Optional(Type.Boolean({ description: 'Apply all requests or none. Default: false.' })),
  });
}
