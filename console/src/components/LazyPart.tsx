import { CatchBoundary } from '@tanstack/react-router';
import { type ComponentType, type LazyExoticComponent, lazy, Suspense, useState } from 'react';
import { loadPart, MissingPartError } from './load-part.ts';
import { MissingPart } from './MissingPart.tsx';
import { LoadingLines } from './QueryState.tsx';

/** A component that is loaded when it is first shown. */
export interface Part<Props extends object> {
  component: LazyExoticComponent<ComponentType<Props>>;
  /** Replaces the component by one that is loaded again. */
  reload(): void;
}

/** Creates a part from a function that loads its component. */
export function createPart<Props extends object>(load: () => Promise<ComponentType<Props>>): Part<Props> {
  const create = () => lazy(async () => ({ default: await loadPart(load) }));
  const part = {
    component: create(),
    reload() {
      part.component = create();
    },
  };
  return part;
}

/** Properties of a part. */
interface LazyPartProps<Props extends object> {
  readonly part: Part<Props>;
  readonly props: Props;
  /** Number of lines that take its place while it is loaded. */
  readonly lines: number;
}

/** Renders a part. If it cannot be loaded, only its own place says so: the screen around it keeps its unsaved changes. */
export function LazyPart<Props extends object>({ part, props, lines }: LazyPartProps<Props>) {
  const [attempt, setAttempt] = useState(0);
  const retry = (): void => {
    part.reload();
    setAttempt(attempt + 1);
  };
  const { component: Component } = part;
  return (
    <CatchBoundary
      getResetKey={() => attempt}
      errorComponent={({ error }) => {
        if (error instanceof MissingPartError) return <MissingPart onRetry={retry} hasRetried={attempt > 0} />;
        throw error;
      }}
    >
      <Suspense fallback={<LoadingLines count={lines} />}>
        <Component {...props} />
      </Suspense>
    </CatchBoundary>
  );
}
