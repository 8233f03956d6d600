/**
 * Tables that follow definitions: what is there, what was applied, what has to be done, doing it.
 *
 * It must never lose a value by itself: whatever is no longer defined is kept aside, and what rows would break is
 * refused. Names in its SQL come from checked definitions, values are bound, defaults never reach DDL.
 *
 * Begin with `evolve.ts`, then `plan-evolution.ts` (pure) and `plan-field.ts`, where a change is judged.
 */
export { type DeletedRecords, listDeletedRecords } from './deleted-records.ts';
export { type Evolved, type EvolveOptions, evolve, type InForceKeeper, planFor, planIn } from './evolve.ts';
export { type Evolution, keepRestore, listEvolutions } from './history.ts';
export type { Plan, Risk, RuleName, Step, StepKind } from './plan.ts';
export { type PruneOptions, planPrune, prune } from './prune.ts';
export { loadOtherDefinitions } from './standing.ts';
export type { Tell } from './telling.ts';
export { checkUnderstood } from './understood.ts';
export { whenFree } from './when-free.ts';
