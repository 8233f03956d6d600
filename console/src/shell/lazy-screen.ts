import { lazyRouteComponent } from '@tanstack/react-router';
import { loadPart } from '../components/load-part.ts';

/** Returns the component of a route, which is loaded when the route opens. If it cannot be loaded, the route shows `CrashedScreen`. */
export function lazyScreen<Module extends Record<string, unknown>, Name extends keyof Module>(load: () => Promise<Module>, name: Name) {
  return lazyRouteComponent(() => loadPart(load), name);
}
