/**
 * Who asks, in which transaction, under which model: how every door begins a transaction, and how a request becomes a job
 * in it.
 */
import type { AuditEntry } from '../audit/index.ts';
import type { Authentication } from '../authn/index.ts';
import type { Principal } from '../authz/context/index.ts';
import type { Followed, Model, ModelKeeper } from '../authz/index.ts';
import { didYouMean, Problem } from '../errors.ts';
import type { ApiRequest, RequestOrigin } from '../request/index.ts';
import { type Definitions, ordinaryResources } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { DecisionWatch, Found, Job, JobSettings } from './step-context.ts';
import { takeCurrentPassword } from './steps/own-password.ts';
import { createPasswordHashes, HashNeeded, type MadePasswords, type PasswordHashes } from './steps/password-hashes.ts';

/** What it takes to run a request. */
export interface AskedParts {
  readonly database: Followed;
  readonly identity: Authentication;
  readonly model: ModelKeeper;
  readonly settings: JobSettings;
  /** relaxed: reads are answered even where their entry cannot be written. */
  readonly auditMode: 'strict' | 'relaxed';
  readonly watch?: DecisionWatch | undefined;
}

/** Whoever asks, before it is known who that is: found out anew in each transaction. */
export interface Caller {
  readonly origin: RequestOrigin;
  /** Throws IDENTITY_TOKEN where whoever it was may no longer ask. */
  identify(tx: Transaction): Promise<Principal>;
}

/** Who asks, in which transaction, under which model. */
export interface Asked {
  readonly parts: AskedParts;
  readonly tx: Transaction;
  readonly caller: Caller;
  readonly principal: Principal;
  readonly foreseen: Promise<Found> | undefined;
  readonly model: Model;
  readonly hashes: PasswordHashes;
  /** Entries that were appended so far. */
  readonly appended: AuditEntry[];
}

/** The caller of a request, its token verified. Throws IDENTITY_TOKEN and IDENTITY_TOKEN_EXPIRED. */
export async function readCaller({ identity }: AskedParts, origin: RequestOrigin): Promise<Caller> {
  const token = await identity.readToken(origin.token);
  return { origin, identify: (tx) => identity.identify(tx, token) };
}

/** What is known before anything is done. */
interface Told {
  readonly principal: Principal;
  readonly foreseen: Promise<Found> | undefined;
}

/** Who asks, and what of it needs no answer to be asked for. */
export interface Asking {
  readonly caller: Caller;
  /** Asks for what a read names, whoever asks. */
  foresee?(tx: Transaction, definitions: Definitions): Promise<Found> | undefined;
}

/** Identifies the caller and runs `work`, again with the hashes where it turned out to need them. */
export async function inTransaction<T>(parts: AskedParts, { caller, foresee }: Asking, work: (asked: Asked) => Promise<T>): Promise<T> {
  const hashes = new Map<string, string>();
  let proved: MadePasswords['proved'];
  const ahead = async (tx: Transaction, definitions: Definitions): Promise<Told> => {
    // Neither waits for the other: a server is asked both with one message.
    const principal = caller.identify(tx);
    const foreseen = foresee?.(tx, definitions);
    // What it fails by is for the step that needs it. Here it has to be over: a connection that is still asked is nobody else's.
    await Promise.allSettled([principal, foreseen]);
    return { principal: await principal, foreseen };
  };
  for (;;) {
    let appended: readonly AuditEntry[] = [];
    try {
      const answer = await parts.database.transactionAfter(ahead, async (tx, told) => {
        const model = await parts.model.at(tx);
        const asked: Asked = { parts, tx, caller, ...told, model, hashes: createPasswordHashes({ hashes, proved }), appended: [] };
        appended = asked.appended;
        return work(asked);
      });
      // Of the run that was committed alone: what others wrote is undone.
      parts.watch?.recorded(appended);
      return answer;
    } catch (error) {
      if (!(error instanceof HashNeeded)) throw error;
      const { plain: missing, claim } = error;
      if (claim !== undefined) {
        proved = { claim, proof: await parts.identity.provePassword(claim, caller.origin.ip) };
        // The request is refused when it runs again: nothing has to be hashed for it.
        if ('refused' in proved.proof) continue;
      }
      for (const plain of missing) hashes.set(plain, await parts.identity.hashPassword(plain));
    }
  }
}

/** Runs a read with its entries; without them where they cannot be written, and whoever runs the service accepts that. */
export async function runRead<T>({ auditMode }: AskedParts, run: (record: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(true);
  } catch (error) {
    // Accepted by whoever chose `relaxed`: a read that cannot be recorded is answered, and is not on the record.
    const isUnrecorded = error instanceof Problem && error.code === 'STORAGE_UNAVAILABLE';
    if (!isUnrecorded || auditMode === 'strict') throw error;
    return run(false);
  }
}

/** Who that is by now, in the same transaction: what was foreseen may have changed since. */
export async function askAgain(asked: Asked): Promise<Asked> {
  return { ...asked, principal: await asked.caller.identify(asked.tx), foreseen: undefined };
}

/** The job of a request. Throws RESOURCE_UNKNOWN. */
export function toJob({ parts, tx, principal, foreseen, model, caller, hashes, appended }: Asked, request: ApiRequest): Job {
  const resource = model.definitions.get(request.resource);
  if (resource === undefined || resource.internal) {
    const name = request.resource.slice(0, 64);
    throw new Problem('RESOURCE_UNKNOWN', `no resource is named "${name}"${suggestion(name, model.definitions, principal)}`);
  }
  const { settings, watch } = parts;
  const { origin } = caller;
  const asked = takeCurrentPassword(request);
  return { tx, model, principal, foreseen, ...asked, origin, resource, settings, hashes, entries: [], appended, watch };
}

/** Suggests a name to admins only, who may see all definitions: other callers must not learn the names of resources that policies hide. */
function suggestion(name: string, definitions: Definitions, { role }: Principal): string {
  if (role !== 'admin') return '';
  return didYouMean(
    name,
    ordinaryResources(definitions).map((each) => each.name),
  );
}
