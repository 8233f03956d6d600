import { type Issue, Problem } from '../errors.ts';
import type { LimitedList } from '../json-steps.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { TypeOf } from '../schemas/index.ts';
import type { RequestLimits } from './api-request.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseQueryParameters, refuseMistakes } from './query-parameters.ts';
import { validateRowCount } from './record-requests.ts';
import { type exportQuerySchema, IMPORT_OPTION_NAMES, IMPORT_QUERY } from './record-schemas.ts';
import { readBodyMembers, readQueryMembers } from './request-members.ts';
import { requestSchemas } from './request-schemas.ts';

/** Options of an import. */
export interface ImportOptions {
  /** `upsert`: a row updates the stored record that has the same key. */
  readonly mode: 'create' | 'upsert';
  /** For an upsert: the unique field that identifies the stored record. */
  readonly key: string | undefined;
  /** True if the rows are decided and validated but not stored. */
  readonly dryRun: boolean;
  /** `stop`: the import ends at the first rejected row; `skip`: the import continues with the next row. */
  readonly onError: 'stop' | 'skip';
  /** True if a rejected row rolls back all rows. */
  readonly atomic: boolean;
  /** True if the response is NDJSON with the counts after each batch. */
  readonly progress: boolean;
}

/** Options of CSV cells. */
export interface CellStyle {
  readonly delimiter: string;
  /** True if an apostrophe is written before texts that spreadsheets would run as formulas. */
  readonly guardFormulas: boolean;
}

/** Options of an import whose body is a file. */
export type ImportQuery = ImportOptions & CellStyle;

/** Options of an export. Without a format, the response is a page of a list. */
export interface ExportQuery extends CellStyle {
  readonly format: string | undefined;
}

/** Parses the query of `POST /api/:resource/import?mode=upsert&key=slug` with a file as its body. */
export function parseImportQuery({ query }: HttpRequest): ImportQuery {
  const { members, issues } = readQueryMembers(query, IMPORT_QUERY);
  const options = { ...parseImportOptions(members, false, issues), ...toCellStyle(members) };
  refuseMistakes('REQUEST_PARAMETER', issues);
  return options;
}

/** A JSON body of an import. */
export interface ImportBody {
  readonly options: ImportOptions;
  /** True if the body has no options, only rows. */
  readonly isPlain: boolean;
  readonly rows: readonly JsonObject[];
}

/**
 * Parses `{ data: [...], mode?, key?, dryRun?, onError?, atomic? }`. `atomic` defaults to true, and to false with `onError: 'skip'`.
 *
 * @throws Problem REQUEST_MALFORMED with every mistake; REQUEST_TOO_LARGE for too many rows
 */
export function parseImportBody(body: Json | undefined, limits: RequestLimits): ImportBody {
  validateRowCount(body, limits);
  const { members, issues } = readBodyMembers(body, requestSchemas(limits).importBody);
  const options = parseImportOptions(members, members.onError !== 'skip', issues);
  refuseMistakes('REQUEST_MALFORMED', issues);
  return { options, isPlain: !Object.keys(members).some((name) => IMPORT_OPTION_NAMES.has(name)), rows: members.data ?? [] };
}

/** Returns the limit of the rows of a JSON body, which ends the parsing of a longer one. */
export function limitRows({ importRows }: Pick<RequestLimits, 'importRows'>): LimitedList {
  const detail = `expected at most ${importRows} records in an import, given more`;
  return { name: 'data', maxItems: importRows, refuse: () => new Problem('REQUEST_TOO_LARGE', detail) };
}

/** Parses the query of `POST /api/:resource/export?format=csv`. The schema is `exportQuerySchema`. */
export function parseExportQuery({ query }: HttpRequest, schema: ReturnType<typeof exportQuerySchema>): ExportQuery {
  const parameters = parseQueryParameters(query, schema);
  return { format: parameters.format, ...toCellStyle(parameters) };
}

type GivenOptions = Partial<TypeOf<typeof IMPORT_QUERY>>;

function parseImportOptions(given: GivenOptions, atomicByDefault: boolean, issues: Issue[]): ImportOptions {
  const { mode = 'create', key, dryRun = false, onError = 'stop', atomic = atomicByDefault, progress = false } = given;
  const isMistaken = issues.some(({ path }) => path === 'mode' || path === 'key');
  if (mode === 'upsert' && key === undefined && !isMistaken)
    issues.push({ path: 'key', code: 'required', detail: 'upsert needs key, the unique field that identifies the record to update' });
  if (mode === 'create' && key !== undefined && !isMistaken)
    issues.push({ path: 'key', code: 'conflict', detail: 'expected key only with mode upsert' });
  if (atomic && onError === 'skip')
    issues.push({ path: 'atomic', code: 'conflict', detail: 'expected atomic or onError=skip, both were given' });
  return { mode, key, dryRun, onError, atomic, progress };
}

function toCellStyle({ delimiter = ',', escape: guardFormulas = true }: Pick<GivenOptions, 'delimiter' | 'escape'>): CellStyle {
  return { delimiter: delimiter === 'tab' ? '\t' : delimiter, guardFormulas };
}
