import { Problem } from '../../errors.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AdmittedRequest } from '../admission/index.ts';
import type { AdminRequest } from './admin-endpoint.ts';

/**
 * Loads a further page of a response that is sent in pieces, in a transaction of its own, so that other requests continue between the pages.
 * Admits the caller again.
 *
 * @throws Problem if the token has expired or the caller is no longer admitted; it ends the response
 */
export async function loadLaterPage<T extends object>(
  { deps, admin, admitAgain, verifyToken }: AdminRequest,
  load: (tx: Transaction, caller: AdmittedRequest) => Promise<T>,
): Promise<T> {
  await verifyToken();
  const work = async (tx: Transaction): Promise<T | Problem> => {
    const caller = await admitAgain(tx);
    // Returned, not thrown: the transaction has the entry of the denial.
    return caller instanceof Problem ? caller : load(tx, caller);
  };
  const page = await deps.database.transaction(work, { caller: admin.id, beginsLong: true, milliseconds: deps.milliseconds });
  if (page instanceof Problem) throw page;
  return page;
}
