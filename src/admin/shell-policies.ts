/**
 * Policies from the shell: the same endpoints, for whoever has the database at hand. An import is made and recorded as an admin, who has no
 * address there and needs no token; to read policies, nobody is named.
 */
import { createEntryId } from '../audit/index.ts';
import type { ByteStream, Call, QueryTree } from '../request/index.ts';
import { type AdminParts, answerAs } from './endpoint.ts';
import { exportedPolicies, policyImport } from './import-policies.ts';

/** A file of policies. */
export interface ShellPolicies {
  /** Email of the admin. */
  readonly as: string;
  readonly mediaType: string;
  readonly bytes: ByteStream;
  readonly dryRun: boolean;
}

/** Imports policies; gives a sentence on what became of them. Throws Problems. */
export async function importPoliciesFromShell(parts: AdminParts, { as, mediaType, bytes, dryRun }: ShellPolicies): Promise<string> {
  const call = toCall(new Map([['dryRun', String(dryRun)]]), { mediaType, bytes });
  const { body } = await answerAs(parts, policyImport, { call, identify: (tx) => parts.identity.identifyByEmail(tx, as) });
  return (body as { readonly message: string }).message;
}

/** Policies with their roles, as a file that an import takes: a line for each. */
export async function* exportPoliciesFromShell(
  { database }: Pick<AdminParts, 'database'>,
  format: 'json' | 'ndjson',
): AsyncGenerator<string> {
  const policies = await database.transaction(exportedPolicies);
  const lines = policies.map((policy) => JSON.stringify(policy));
  yield format === 'ndjson' ? lines.map((line) => `${line}\n`).join('') : `{ "policies": [\n${lines.join(',\n')}\n] }\n`;
}

function toCall(query: QueryTree, { mediaType, bytes }: Pick<ShellPolicies, 'mediaType' | 'bytes'>): Call {
  return {
    method: 'POST',
    params: new Map(),
    query,
    body: undefined,
    stream: bytes,
    header: (name) => (name === 'content-type' ? mediaType : undefined),
    origin: { requestId: createEntryId(), method: '', path: '', ip: '' },
  };
}
