/** Content negotiation: the headers on which a response depends, and what a client accepts. */
import type { FastifyReply } from 'fastify';

/** Adds a header on which the response depends. CORS may have added `Origin`. */
export function addVary(reply: FastifyReply, name: string): FastifyReply {
  const present = reply.getHeader('vary');
  return reply.header('vary', present === undefined ? name : `${String(present)}, ${name}`);
}

/** Returns true if a header such as Accept lists a value, and not with the weight 0. */
export function isListed(header: string | undefined, value: string): boolean {
  return (header ?? '').split(',').some((item) => {
    const [name, ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    return name === value && !parameters.some((parameter) => parameter.startsWith('q=') && Number(parameter.slice(2)) === 0);
  });
}
