import { relatedKindOf } from '../../authz/context/index.ts';
import type { Path, SqlTarget } from '../../conditions/index.ts';
import { type Definitions, fieldAt, type Resource } from '../../resources/index.ts';
import { findColumn, type Joins } from '../related/reference-joins.ts';

/** The records of a subquery, and the target of the statement around it. */
interface OwnFields {
  readonly outer: SqlTarget;
  readonly definitions: Definitions;
  /** The resource of the records. */
  readonly resource: Resource;
  /** The first key of the paths that read them. */
  readonly as: string;
  readonly joins: Joins;
}

/** Returns the columns of a subquery: paths that begin with its alias read its records, and other paths have the columns of the target around it. */
export function ownFieldsTarget({ outer, definitions, resource, as, joins }: OwnFields): SqlTarget {
  const isOwn = ({ group, keys }: Path): boolean => group === 'related' && keys[0] === as;
  const find = ({ keys }: Path): ReturnType<typeof findColumn> => findColumn(fieldAt(definitions, resource, keys.slice(1)), joins);
  return {
    dialect: outer.dialect,
    now: outer.now,
    timeZone: outer.timeZone,
    kindOf: (path) => (isOwn(path) ? relatedKindOf(definitions, resource.name, path.keys.slice(1)) : outer.kindOf(path)),
    column(path) {
      if (!isOwn(path)) return outer.column(path);
      const found = find(path);
      return found?.inner.length === 0 ? found.subject : undefined;
    },
    json(path) {
      if (!isOwn(path)) return outer.json?.(path);
      const { subject, inner } = find(path) ?? {};
      return subject?.kind === 'json' && inner !== undefined ? { document: subject.sql, keys: inner } : undefined;
    },
  };
}
