import { type Issue, Problem } from '../../errors.ts';
import { ConstraintError } from '../../storage/index.ts';
import type { RequestContext } from '../request-context.ts';

/** Runs `work` and turns constraint errors of the database into problems, without values of write-only fields. */
export async function translateConstraints<T>(context: Pick<RequestContext, 'resource'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    if (error.constraint === 'unique') {
      const taken = error.columns.filter((name) => context.resource.fields.get(name)?.writeOnly === false);
      const errors: Issue[] = taken.map((path) => ({ path, code: 'taken', detail: `another ${context.resource.name} has this ${path}` }));
      throw new Problem('RECORD_EXISTS', `another ${context.resource.name} has the same ${taken.join(' and ') || 'values'}`, {
        errors,
        cause: error,
      });
    }
    // A foreign key refused the write. The references of the definitions in force are validated before, so the key belongs to an archived column or table.
    throw new Problem(
      'RECORD_REFERENCED',
      'a foreign key of an archived column or table refuses this; put its definition back in force, or delete the archived data',
      { cause: error },
    );
  }
}
