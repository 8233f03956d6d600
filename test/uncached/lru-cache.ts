/** Replaces the package `lru-cache` with a cache that stores nothing. */
export class LRUCache {
  readonly size = 0;

  get(): undefined {
    return undefined;
  }

  set(): this {
    return this;
  }

  has(): boolean {
    return false;
  }

  delete(): boolean {
    return false;
  }

  clear(): void {
    // Nothing is stored.
  }

  *keys(): Generator<never> {
    // Nothing is stored.
  }
}
