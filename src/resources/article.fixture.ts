/** A resource for tests with a field of each kind that can be filtered or sorted, and two secret fields. */
import { Problem } from '../errors.ts';
import { parseDefinition } from './parse-definition.ts';
import type { Resource } from './resource.ts';

/** The parsed resource. */
export const article: Resource = parseArticle();

function parseArticle(): Resource {
  const { resource, mistakes } = parseDefinition({
    name: 'Article',
    fields: {
      title: { type: 'string' },
      views: { type: 'integer' },
      price: { type: 'decimal' },
      live: { type: 'boolean' },
      authorEmail: { type: 'email' },
      due: { type: 'timestamp' },
      tags: { type: 'list', of: 'string' },
      marks: { type: 'list', of: 'integer' },
      copies: { type: 'list', of: 'email' },
      extra: { type: 'json' },
      secret: { type: 'string', writeOnly: true },
      password: { type: 'password' },
    },
  });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

/** Returns the problem that `work` throws. */
export function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('expected a problem');
}
