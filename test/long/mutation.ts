/** A deliberate defect, and the test that must fail. */
export interface Mutation {
  /** The defect in words. */
  readonly name: string;
  /** The changed source file. */
  readonly file: string;
  /** A text that occurs once in the source. */
  readonly find: string;
  readonly replace: string;
  /** The test file that fails. */
  readonly red: string;
  /** The title of the test that fails, or its full name. Others may fail too. */
  readonly test: string;
  /** True if the test fails only on PostgreSQL. */
  readonly onPostgres?: true;
}
