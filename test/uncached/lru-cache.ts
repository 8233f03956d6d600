/** In place of the package: keeps nothing, whatever it is told. */
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
    // There is nothing.
  }

  *keys(): Generator<never> {
    // There is nothing.
  }
}
