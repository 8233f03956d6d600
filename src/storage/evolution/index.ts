/**
 * Tables that follow definitions: what is there, what was applied, what has to be done, doing it.
 *
 * It must never lose a value by itself: whatever is no longer defined is kept aside, and what rows would break is
 * refused. Names in its SQL come from checked definitions, values are bound, defaults never reach DDL.
 *
 * Begin with `evolve.ts`, which goes the way of every evolution: draft (`plan-evolution.ts`, pure; a change of one field is
 * judged in `plan-field.ts`), ask the rows (`ask-rows.ts`), settle what is done of it (`settle.ts`), `perform.ts`.
 */
export { type DeletedRecords, listDeletedRecords } from './deleted-records.ts';
export { type Evolved, type EvolveOptions, evolve, type InForceKeeper, planFor, planIn } from './evolve.ts';
export { type Evolution, hasChains, hasHistoryHashes, keepRestore, listEvolutions } from './history.ts';
export type { Plan, Risk, RuleName, Step, StepKind } from './plan.ts';
export { type PruneOptions, planPrune, prune } from './prune.ts';
export { loadOtherDefinitions } from './standing.ts';
export type { Tell } from './telling.ts';
export { checkUnderstood } from './understood.ts';
export { whenFree } from './when-free.ts';
