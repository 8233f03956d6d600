import type { Finding } from './policies.ts';

/** Returns a finding whose sentence has the names of users instead of their ids. */
export function nameUsers(finding: Finding, names: Readonly<Record<string, string>>): Finding {
  const detail = (finding.users ?? []).reduce((text, id) => text.replaceAll(id, () => names[id] ?? id), finding.detail);
  return { ...finding, detail };
}
