/** The words of a question that is asked before something is lost. */
export interface LeaveTexts {
  readonly title: string;
  readonly detail: string;
  readonly leave: string;
  readonly stay: string;
}

/** The forms of the page that would lose something, each with its question. */
const forms = new Map<object, LeaveTexts>();

/** Returns the question to ask before the page loses something; undefined if no form has unsaved changes. */
export function unsavedQuestion(): LeaveTexts | undefined {
  return forms.values().next().value;
}

/** Says that a form has unsaved changes. Returns a function that ends this. */
export function addUnsavedChanges(question: LeaveTexts): () => void {
  const form = {};
  forms.set(form, question);
  return () => void forms.delete(form);
}
