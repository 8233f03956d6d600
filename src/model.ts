/**
 * What decisions are made on: the definitions in force and the policies compiled at one epoch.
 * A transaction asks for the model as of the epoch it sees, so a revoke that has committed is never missed.
 */
import { compilePolicies, type PolicyLimits, type PolicySnapshot } from './policy/index.ts';
import type { Definitions, Resource } from './resource/index.ts';
import { type Database, type Epoch, loadEpoch, loadOtherDefinitions, loadPolicyState, type Transaction } from './storage/index.ts';

/** Definitions and compiled policies as of one epoch. Frozen. */
export interface Model {
  readonly epoch: Epoch;
  readonly definitions: Definitions;
  readonly policies: PolicySnapshot;
  /** Definition of `User`: what `user.…` means in conditions. */
  readonly user: Resource;
}

/** Keeps the model of the newest epoch seen. */
export interface ModelKeeper {
  /**
   * The model as of the epoch that `tx` sees, on which it rests from then on; of other definitions than before where another process
   * put those in force.
   */
  at(tx: Transaction): Promise<Model>;
  /** Puts other definitions in force, for `evolve` to call in the transaction that changes the tables; the next one compiles anew. */
  replaceDefinitions(definitions: Definitions): void;
  readonly definitions: Definitions;
}

/** Keeps the model, beginning with these definitions; policies are compiled when a transaction first asks. */
export function createModelKeeper(initial: Definitions, limits: PolicyLimits): ModelKeeper {
  let definitions = initial;
  let current: Model | undefined;

  /** What is read statement by statement is of one epoch only where that is still the same after the last. */
  async function load(tx: Transaction, epoch: Epoch): Promise<Model> {
    definitions = (await loadOtherDefinitions(tx, definitions)) ?? definitions;
    const state = await loadPolicyState(tx);
    const after = await loadEpoch(tx);
    return after.stamp === epoch.stamp ? compileModel(definitions, compilePolicies(state, definitions, limits), epoch) : load(tx, after);
  }

  return {
    get definitions() {
      return definitions;
    },
    replaceDefinitions(next) {
      definitions = next;
      current = undefined;
    },
    async at(tx) {
      const epoch = await loadEpoch(tx);
      if (current?.epoch.stamp !== epoch.stamp) current = await load(tx, epoch);
      tx.restsOn({ epoch: current.epoch.stamp });
      return current;
    },
  };
}

/**
 * The database, whose every transaction begins by seeing to it that definitions are those in force: another process may have
 * changed tables, and then whatever is read or written under the definitions before would miss columns or name others.
 */
export function followed(database: Database, model: ModelKeeper): Database {
  return {
    dialect: database.dialect,
    backups: database.backups,
    get healthy() {
      return database.healthy;
    },
    transaction: (work) =>
      database.transaction(async (tx) => {
        await model.at(tx);
        return work(tx);
      }),
    close: () => database.close(),
  };
}

function compileModel(definitions: Definitions, policies: PolicySnapshot, epoch: Epoch): Model {
  const user = definitions.get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return Object.freeze({ epoch, definitions, policies, user });
}
