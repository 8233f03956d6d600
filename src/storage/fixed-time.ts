import type { Transaction } from './contract.ts';

/** Returns a transaction that is the given one, but whose time is `now`, in milliseconds since 1970. For decisions about another time, which write nothing. */
export function withTime(tx: Transaction, now: number): Transaction {
  // Not a proxy of the transaction itself, which is frozen: its time could not be another one.
  return new Proxy({} as Transaction, {
    get(_, name) {
      if (name === 'now') return now;
      // The methods use private members, which the proxy does not have.
      const member: unknown = Reflect.get(tx, name, tx);
      return typeof member === 'function' ? member.bind(tx) : member;
    },
  });
}
