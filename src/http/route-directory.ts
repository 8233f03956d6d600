import { Problem } from '../errors.ts';

/** What the server answers at, gathered as routes are added. */
export interface Directory {
  add(method: string | readonly string[], path: string): void;
  /** Why nothing answers this method at this path, and the methods that something would answer. */
  explain(method: string, path: string): { readonly problem: Problem; readonly allow: readonly string[] };
}

/** An empty directory. */
export function createDirectory(): Directory {
  const methodsByPath = new Map<string, Set<string>>();
  return {
    add(method, path) {
      const methods = methodsByPath.get(path) ?? new Set();
      for (const each of [method].flat()) methods.add(each);
      methodsByPath.set(path, methods);
    },
    explain(method, path) {
      const matching = [...methodsByPath].filter(([pattern]) => isAt(pattern, path));
      const allow = [...new Set(matching.flatMap(([, methods]) => [...methods]))].sort();
      if (allow.length === 0) return { problem: new Problem('REQUEST_NO_ROUTE', 'nothing answers at this address'), allow };
      return { problem: new Problem('REQUEST_METHOD', `expected ${allow.join(', ')} here, given ${method}`), allow };
    },
  };
}

/** Whether a path is at `/api/:resource/:id`. */
function isAt(pattern: string, path: string): boolean {
  const names = pattern.split('/');
  const segments = path.split('/');
  return (
    names.length === segments.length &&
    names.every((name, index) => (name.startsWith(':') ? segments[index] !== '' : name === segments[index]))
  );
}
