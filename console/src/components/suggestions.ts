/** Suggestions under one heading. */
export interface SuggestionGroup {
  readonly group: string;
  readonly items: readonly string[];
}

/** Returns the suggestions that contain a text, in any case, up to a number; groups without one are left out. */
export function filterSuggestions(groups: readonly SuggestionGroup[], text: string, max: number): readonly SuggestionGroup[] {
  const wanted = text.trim().toLowerCase();
  let left = max;
  return groups.flatMap(({ group, items }) => {
    const found = items.filter((item) => item.toLowerCase().includes(wanted)).slice(0, left);
    left -= found.length;
    return found.length === 0 ? [] : [{ group, items: found }];
  });
}
