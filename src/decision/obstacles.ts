import type { ConditionTrace } from '../condition/index.ts';

/** What keeps a condition from being true. */
export interface Obstacles {
  /** Those parts of it that are not as they would have to be; what is beside them and in nobody's way is left out. */
  readonly unmet: readonly ConditionTrace[];
  /** How many comparisons at least would have to come out otherwise; Infinity where nothing would help. */
  readonly distance: number;
}

/** Picks from a condition's trace what stands between it and *true*. */
export function obstaclesTo(trace: ConditionTrace): Obstacles {
  const found = obstacleTo('true', trace);
  if (found === undefined) return { unmet: [], distance: 0 };
  const { part, distance } = found;
  // Each member of an `all` stands in the way by itself.
  return { unmet: part.type === 'all' ? part.of : [part], distance };
}

type Wanted = 'true' | 'false';

interface Obstacle {
  readonly part: ConditionTrace;
  readonly distance: number;
}

function obstacleTo(wanted: Wanted, trace: ConditionTrace): Obstacle | undefined {
  if (trace.answer === wanted) return undefined;
  switch (trace.type) {
    case 'all':
    case 'any':
      return obstacleAmong(wanted, trace);
    case 'not': {
      const inner = obstacleTo(wanted === 'true' ? 'false' : 'true', trace.of);
      return inner && { part: { ...trace, of: inner.part }, distance: inner.distance };
    }
    case 'constant':
      return { part: trace, distance: Number.POSITIVE_INFINITY };
    default:
      // What is open may yet come out right.
      return { part: trace, distance: trace.answer === 'open' ? 0 : 1 };
  }
}

/** For an `all` to be true every member has to be, and for an `any` to be false; otherwise one member would do, the nearest. */
function obstacleAmong(wanted: Wanted, trace: Extract<ConditionTrace, { type: 'all' | 'any' }>): Obstacle {
  const members = trace.of.flatMap((member) => obstacleTo(wanted, member) ?? []);
  const distances = members.map(({ distance }) => distance);
  const takesEvery = (trace.type === 'all') === (wanted === 'true');
  return {
    part: { ...trace, of: members.map(({ part }) => part) },
    distance: takesEvery ? distances.reduce((sum, each) => sum + each, 0) : Math.min(...distances),
  };
}
