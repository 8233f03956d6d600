import pg from 'pg';
import { Problem } from '../../errors.ts';
import { memoize } from '../../memoize.ts';
import type { Statement } from '../contract.ts';

/** A statement and the name that it is prepared under; undefined if it is not prepared. */
export interface NamedStatement extends Statement {
  readonly name: string | undefined;
}

/** The driver's description of the columns of a result, by which it parses rows. */
interface Columns {
  readonly fields: readonly unknown[];
  readonly _parsers: readonly unknown[] | undefined;
  readonly _prebuiltEmptyResultObject: object | null;
}

/** The columns of prepared statements, by statement name. */
export type KnownColumns = Map<string, Columns>;

/** The member of the driver's connection that `withoutDescribe` overrides. */
interface Wire {
  describe(message: unknown): void;
}

/** The driver's query with members that its type declarations omit. */
interface DriverQuery {
  name: string | undefined;
  values: readonly unknown[];
  callback: (error: unknown, result?: pg.QueryResult) => void;
  _accumulateRows: boolean;
  readonly _result: Columns & { _types: typeof COLUMN_TYPES };
  hasBeenParsed(wire: Wire): boolean;
  prepare(wire: Wire): void;
  handleRowDescription(message: unknown): void;
}

const DriverQuery = pg.Query as unknown as new (text: string) => DriverQuery;

/**
 * A query that requests the description of its columns only the first time it is prepared. That is safe, because the server fails
 * rather than return other columns for a prepared name, and the statement is then prepared again. For a result of one row, the
 * description is most of the message and most of the parsing.
 */
class PreparedQuery extends DriverQuery {
  readonly #knownColumns: KnownColumns | undefined;

  constructor({ sql, parameters, name }: NamedStatement, knownColumns: KnownColumns | undefined) {
    // Passed as text, because pg would copy the members of an object one by one.
    super(sql);
    this.name = name;
    this.values = parameters;
    this._accumulateRows = true;
    this._result._types = COLUMN_TYPES;
    this.#knownColumns = knownColumns;
  }

  override prepare(wire: Wire): void {
    const columns = this.name === undefined ? undefined : this.#knownColumns?.get(this.name);
    const isKnown = columns !== undefined && this.hasBeenParsed(wire);
    if (isKnown) Object.assign(this._result, columns);
    super.prepare(isKnown ? withoutDescribe(wire) : wire);
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    if (this.name !== undefined) this.#knownColumns?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/** The way in which a statement is sent. */
export interface Sending {
  /** The columns known on this connection; undefined if the connection may switch between processes of the server. */
  readonly knownColumns: KnownColumns | undefined;
  /** Called once the statement has its answer, which may be an error. */
  answered(): void;
}

/** Sends a statement and returns its result. */
export function sendQuery(client: pg.PoolClient, statement: NamedStatement, { knownColumns, answered }: Sending): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new PreparedQuery(statement, knownColumns);
    let isAnswered = false;
    // The driver may report the loss of a connection for a query that has failed already.
    const end = (error: unknown, result?: pg.QueryResult): void => {
      if (isAnswered) return;
      isAnswered = true;
      answered();
      if (result !== undefined) resolve(result);
      else reject(error);
    };
    query.callback = end;
    try {
      client.query(query as unknown as pg.Submittable);
    } catch (error) {
      end(error);
    }
  });
}

const silentWires = new WeakMap<Wire, Wire>();

/** Returns the connection with a `describe` that sends nothing. */
function withoutDescribe(wire: Wire): Wire {
  return memoize(silentWires, wire, () => Object.assign(Object.create(wire) as Wire, { describe: () => undefined }));
}

/**
 * Parsers of column values, by the ids of PostgreSQL's types. Rows hold the same values as those of SQLite: integers as numbers, those
 * beyond 2^53 as bigints; booleans as 1 and 0; everything else as text, JSON too.
 */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [20, toInteger],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  // NUMERIC, the type of a sum of integers; our tables have no column of this type.
  [1700, (text) => (text.includes('.') ? Number(text) : toInteger(text))],
]);

const asText = (text: string): unknown => text;

/** Selects the parser of a column by its type. */
const COLUMN_TYPES: { getTypeParser(id: number): (text: string) => unknown } = Object.freeze({
  getTypeParser: (id: number) => PARSERS.get(id) ?? asText,
});

/**
 * Converts a value to the form in which it is sent. Refuses text with NUL characters, for which the server would abort the transaction.
 *
 * @throws Problem VALUE_INVALID
 */
export function toBound(value: unknown): unknown {
  if (typeof value === 'string' && value.includes('\u0000')) throw new Problem('VALUE_INVALID', 'expected text without NUL characters');
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return value === undefined ? null : value;
}

function toInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
