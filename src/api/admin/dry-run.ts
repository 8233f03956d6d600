import type { Transaction } from '../../storage/index.ts';

class DryRun<Result> extends Error {
  readonly result: Result;
  constructor(result: Result) {
    super('dry run');
    this.result = result;
  }
}

/** Runs changes, rolls them back, and returns the result that they would have. */
export async function runDry<Result>(tx: Transaction, work: () => Promise<Result>): Promise<Result> {
  try {
    return await tx.savepoint(async () => {
      throw new DryRun(await work());
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result as Result;
    throw error;
  }
}
