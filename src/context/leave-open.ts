import { OPEN, type Path, type Scope } from '../condition/index.ts';

/** The same scope with some paths left open besides the record's: what a decision then depends on stays in its condition. */
export function leaveOpen(scope: Scope, isOpen: (path: Path) => boolean): Scope {
  return Object.freeze({ ...scope, valueOf: (path: Path) => (isOpen(path) ? OPEN : scope.valueOf(path)) });
}
