import type { Kysely, OperationNode, RawBuilder, RawNode, ValueNode } from 'kysely';
import type { Statement } from './database.ts';

/** What can be asked of a transaction: a text with its values, or a template that is one once it is put together. */
export type Query = RawBuilder<unknown> | Statement;

/** How a database is asked. */
export interface Asking {
  /** For what is made of more than texts and values. */
  readonly compiler: Kysely<unknown>;
  /** What stands for the nth value, counted from 1. */
  placeholder(number: number): string;
}

/**
 * Makes queries texts with values. Templates are texts and values, one within another, and nearly nothing else: those are put one behind
 * the other. The compiler, which has to be ready for any part of any query, takes several times as long, with each request anew.
 */
export function createStatements({ compiler, placeholder }: Asking): (query: Query) => Statement {
  return (query) => {
    if ('parameters' in query) return query;
    const parameters: unknown[] = [];
    const sql = textOf(query.toOperationNode(), (value) => placeholder(parameters.push(value)));
    return sql === undefined ? query.compile(compiler) : { sql, parameters };
  };
}

/** Undefined where it is made of something else. */
function textOf(node: OperationNode, bind: (value: unknown) => string): string | undefined {
  if (isBound(node)) return bind(node.value);
  if (!isTemplate(node)) return undefined;
  const { sqlFragments, parameters } = node;
  let text = '';
  for (let index = 0; index < sqlFragments.length; index++) {
    text += sqlFragments[index];
    const inner = parameters[index];
    if (inner === undefined) continue;
    const within = textOf(inner, bind);
    if (within === undefined) return undefined;
    text += within;
  }
  return text;
}

function isTemplate(node: OperationNode): node is RawNode {
  return node.kind === 'RawNode';
}

/** Others stand in the text itself. */
function isBound(node: OperationNode): node is ValueNode {
  return node.kind === 'ValueNode' && (node as ValueNode).immediate !== true;
}
