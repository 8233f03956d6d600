import { LoadingLines } from '../components/QueryState.tsx';

/** Number of lines of the skeleton. */
const LINES = 10;

/** Shown instead of a screen whose code is being loaded. */
export function LoadingScreen() {
  return <LoadingLines count={LINES} />;
}
