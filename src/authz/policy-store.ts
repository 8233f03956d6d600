/**
 * What decisions are made on: the definitions in force and the policies compiled at one epoch.
 * A transaction asks for the model as of the epoch it sees, so a revoke that has committed is never missed.
 */

import { memoised } from '../memoize.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import {
  type Database,
  loadChanges,
  loadOtherDefinitions,
  loadPolicyState,
  loadRevision,
  type Revision,
  type Transaction,
} from '../storage/index.ts';
import { type AssignmentCache, createAssignmentCache, type UserAssignments } from './assignment-cache.ts';
import { changePolicies, compilePolicies, type PolicyLimits, type PolicySnapshot } from './policies/index.ts';

/** Definitions, compiled policies and whatever users are assigned as of one epoch. Frozen. */
export interface Model {
  readonly epoch: Revision;
  readonly definitions: Definitions;
  readonly policies: PolicySnapshot;
  readonly grants: UserAssignments;
  /** Definition of `User`: what `user.…` means in conditions. */
  readonly user: Resource;
}

/** Keeps the model of the newest epoch seen. */
export interface ModelKeeper {
  /**
   * The model as of the epoch that `tx` sees when it first asks, on which it rests from then on; of other definitions than before where
   * another process put those in force.
   */
  at(tx: Transaction): Promise<Model>;
  /** The same, for a transaction that has changed policies itself: nobody else sees that yet, and it may be undone, so it is not kept. */
  after(tx: Transaction): Promise<Model>;
  /** Puts other definitions in force, for `evolve` to call in the transaction that changes the tables; the next one compiles anew. */
  replaceDefinitions(definitions: Definitions): void;
  readonly definitions: Definitions;
  /** Number of the newest epoch seen; undefined before the first. */
  epoch(): number | undefined;
}

/** What a model is bounded by. */
export interface ModelLimits extends PolicyLimits {
  /** Users and their assignments that are kept at most. */
  readonly grants: number;
}

/** A model that is made, and what of users' assignments goes on to be kept; nothing where `users` is undefined. */
interface Made {
  readonly model: Model;
  readonly users: ReadonlySet<string> | undefined;
}

/** Keeps the model, beginning with these definitions; policies are compiled when a transaction first asks. */
export function createModelKeeper(initial: Definitions, limits: ModelLimits): ModelKeeper {
  const keeper = createAssignmentCache(limits.grants);
  let definitions = initial;
  let current: Model | undefined;
  let seen: number | undefined;

  /** Of what has changed since `base`, where that can be told; of everything otherwise. */
  async function make(tx: Transaction, base: Model | undefined, epoch: Revision): Promise<Made> {
    const others = await loadOtherDefinitions(tx, definitions);
    const known = others === undefined && base?.definitions === definitions ? base : undefined;
    const changes = known && (await loadChanges(tx, known.epoch, epoch));
    if (changes) return { model: toModel(changePolicies(known.policies, changes), epoch, keeper), users: changes.users };
    definitions = others ?? definitions;
    const state = await loadPolicyState(tx);
    // What is read statement by statement is of one epoch only where that is still the same after the last.
    const now = await loadRevision(tx);
    if (now.stamp !== epoch.stamp) return make(tx, base, now);
    return { model: toModel(compilePolicies(state, definitions, limits), epoch, keeper), users: undefined };
  }

  async function load(tx: Transaction): Promise<Model> {
    const epoch = await loadRevision(tx);
    const base = current;
    const { model, users } = base?.epoch.stamp === epoch.stamp ? { model: base } : await make(tx, base, epoch);
    // Transactions run side by side: another may have gone on from the same model meanwhile, and further.
    if (current === base && model !== base) {
      current = model;
      seen = model.epoch.number;
      keeper.goOn(model.epoch, users);
    }
    tx.restsOn({ epoch: model.epoch.stamp });
    return model;
  }

  return {
    get definitions() {
      return definitions;
    },
    epoch: () => seen,
    replaceDefinitions(next) {
      definitions = next;
      current = undefined;
    },
    at: oncePerTransaction(load),
    async after(tx) {
      const epoch = await loadRevision(tx);
      return current?.epoch.stamp === epoch.stamp ? current : (await make(tx, current, epoch)).model;
    },
  };
}

/** Asked for by whoever begins a transaction, and again by whoever decides in it. */
function oncePerTransaction<T>(load: (tx: Transaction) => Promise<T>): (tx: Transaction) => Promise<T> {
  const loaded = new WeakMap<Transaction, Promise<T>>();
  return (tx) => memoised(loaded, tx, () => load(tx));
}

/** A database whose transactions begin under the definitions in force. */
export interface Followed extends Database {
  /**
   * The same, for a work that begins by asking something: what `ahead` asks goes out together with the question which definitions those
   * are, and once more where they turn out to be others than it was asked under.
   */
  transactionAfter<Told, T>(ahead: Ahead<Told>, work: (tx: Transaction, told: Told) => Promise<T>): Promise<T>;
}

/** Asks something under definitions. */
export type Ahead<Told> = (tx: Transaction, definitions: Definitions) => Promise<Told>;

/**
 * The database, whose every transaction begins by seeing to it that definitions are those in force: another process may have
 * changed tables, and then whatever is read or written under the definitions before would miss columns or name others.
 */
export function followed(database: Database, model: ModelKeeper): Followed {
  async function load<Told>(tx: Transaction, ahead: Ahead<Told>): Promise<Told> {
    const expected = model.definitions;
    // In this order: what is told is not older than the epoch, which the commit looks at once more.
    const following = model.at(tx);
    const told = ahead(tx, expected);
    // Both, whatever becomes of them: a connection that is still asked is nobody else's. What failed under definitions that are no more is
    // nobody's business.
    await Promise.allSettled([following, told]);
    const { definitions } = await following;
    return definitions === expected ? told : ahead(tx, definitions);
  }

  return {
    dialect: database.dialect,
    backups: database.backups,
    get healthy() {
      return database.healthy;
    },
    get fault() {
      return database.fault;
    },
    prove: () => database.prove(),
    get figures() {
      return database.figures;
    },
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        await model.at(tx);
        return work(tx);
      }, options),
    transactionAfter(ahead, work) {
      let isAgain = false;
      return database.transaction(async (tx) => {
        // What fails in a transaction fails all that is asked behind it: who is run again asks for definitions before anything rests on them.
        if (isAgain) await model.at(tx);
        isAgain = true;
        return work(tx, await load(tx, ahead));
      });
    },
    close: () => database.close(),
  };
}

function toModel(policies: PolicySnapshot, epoch: Revision, keeper: AssignmentCache): Model {
  const { definitions } = policies.compileOptions;
  const user = definitions.get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return Object.freeze({ epoch, definitions, policies, grants: keeper.at(epoch), user });
}
