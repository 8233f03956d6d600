import type { Policy, StoredState, UnparsedPolicy } from './policy.ts';

/** Returns a policy of a state, parsed if it is not. */
export function toParsedPolicy(policy: Policy | UnparsedPolicy): Policy {
  return 'parse' in policy ? policy.parse() : policy;
}

/** The active policies of a state by id, each parsed on first use. Every use returns the same object. */
export class PolicyMap {
  readonly #policies = new Map<string, Policy | UnparsedPolicy>();

  constructor(policies: StoredState['policies']) {
    for (const policy of policies) if (policy.isActive) this.#policies.set(policy.id, policy);
  }

  get size(): number {
    return this.#policies.size;
  }

  has(id: string): boolean {
    return this.#policies.has(id);
  }

  get(id: string): Policy | undefined {
    const policy = this.#policies.get(id);
    if (policy === undefined || !('parse' in policy)) return policy;
    const parsed = policy.parse();
    this.#policies.set(id, parsed);
    return parsed;
  }

  keys(): Iterable<string> {
    return this.#policies.keys();
  }
}
