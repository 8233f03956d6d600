/**
 * TypeScript types for clients, rendered from definitions and schemas.
 *
 * The types accept no value that the service refuses by its type, and every value that it returns. Begin with `render-client-types.ts`.
 */
export { renderClientTypes, renderComponentTypes } from './render-client-types.ts';
