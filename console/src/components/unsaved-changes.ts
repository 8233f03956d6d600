/** The forms of the page that have unsaved changes. */
const forms = new Set<object>();

/** Returns true if a form of the page has unsaved changes. */
export function hasUnsavedChanges(): boolean {
  return forms.size > 0;
}

/** Says that a form has unsaved changes. Returns a function that ends this. */
export function addUnsavedChanges(): () => void {
  const form = {};
  forms.add(form);
  return () => void forms.delete(form);
}
