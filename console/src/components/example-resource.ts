/** Returns the name of a resource to begin with: one of the project, if it has any. */
export function exampleResource(names: readonly string[]): string | undefined {
  return names.find((name) => name !== 'User') ?? names[0];
}
