/** One way to break the program, and the test that has to notice. */
export interface Mutation {
  /** What is then so. */
  readonly name: string;
  /** The source that is changed. */
  readonly file: string;
  /** Text that the source has once. */
  readonly find: string;
  readonly replace: string;
  /** The test file that turns red. */
  readonly red: string;
  /** The test in it that notices, by its whole name. Others may turn red too. */
  readonly test: string;
}
