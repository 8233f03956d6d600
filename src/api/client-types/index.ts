/**
 * TypeScript types for clients, rendered from definitions and schemas.
 *
 * The types accept every value that the service accepts or returns. They refuse values of another type. Begin with `render-client-types.ts`.
 */
export { renderClientTypes, renderComponentTypes } from './render-client-types.ts';
