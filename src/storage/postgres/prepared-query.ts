import pg from 'pg';
import { memoised } from '../../memoize.ts';
import type { Statement } from '../contract.ts';
import { COLUMN_TYPES } from './query-values.ts';

/** A statement, and the name that it is prepared under; undefined where it is not. */
export interface Named extends Statement {
  readonly name: string | undefined;
}

/** What the driver makes of the columns of an answer, to read rows by. */
interface Columns {
  readonly fields: readonly unknown[];
  readonly _parsers: readonly unknown[] | undefined;
  readonly _prebuiltEmptyResultObject: object | null;
}

/** What is known of the columns of prepared statements, by name. */
export type Described = Map<string, Columns>;

/** As much of the driver's connection as a query is sent by. */
interface Wire {
  describe(message: unknown): void;
}

/** The driver's query, with what its types leave out. */
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
 * A statement on its way. The server describes the columns of a prepared one when it is asked the first time and is not asked to
 * again: it would rather fail than have a name answer other columns, which is then prepared anew. Most of what is sent for a row
 * is the description of it otherwise, and most of what it takes to read it.
 */
class Question extends DriverQuery {
  readonly #described: Described | undefined;

  constructor({ sql, parameters, name }: Named, described: Described | undefined) {
    // As an object it would be copied, member by member.
    super(sql);
    this.name = name;
    this.values = parameters;
    this._accumulateRows = true;
    this._result._types = COLUMN_TYPES;
    this.#described = described;
  }

  override prepare(wire: Wire): void {
    const columns = this.name === undefined ? undefined : this.#described?.get(this.name);
    const isKnown = columns !== undefined && this.hasBeenParsed(wire);
    if (isKnown) Object.assign(this._result, columns);
    super.prepare(isKnown ? silent(wire) : wire);
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    if (this.name !== undefined) this.#described?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/**
 * Sends a statement.
 *
 * @param described What is known of columns, where all that is said is said to one process of the server; undefined where not.
 */
export function askClient(client: pg.PoolClient, named: Named, described: Described | undefined): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const question = new Question(named, described);
    question.callback = (error, result) => (result === undefined ? reject(error) : resolve(result));
    client.query(question as unknown as pg.Submittable);
  });
}

const silenced = new WeakMap<Wire, Wire>();

/** The same, but that it asks for no description. */
function silent(wire: Wire): Wire {
  return memoised(silenced, wire, () => Object.assign(Object.create(wire) as Wire, { describe: () => undefined }));
}
