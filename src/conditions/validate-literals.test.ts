import { describe, expect, it } from 'vitest';
import { defineNegation } from '../operators/define-operator.ts';
import { OPERATORS, type Operator } from '../operators/index.ts';
import { createTextDomain } from './index.ts';
import { validateLiterals } from './validate-literals.ts';

const states = createTextDomain(['open', 'closed']);
const path = { group: 'resource', keys: ['state'], text: 'resource.state' } as const;
const validate = (operator: Operator, value: string): string | undefined =>
  validateLiterals(
    { type: 'comparison', path, operator: operator.name, operand: { type: 'literal', value }, ifExists: false },
    operator,
    states,
  );
const operatorOf = (name: string): Operator => OPERATORS.get(name) as Operator;

describe('validateLiterals', () => {
  it.each([
    ['contains', 'pen', undefined],
    ['contains', 'x', 'contains "x"'],
    ['incontains', 'X', 'contains "X"'],
    ['istartsWith', 'X', 'starts with "X"'],
    ['endsWith', 'x', 'ends with "x"'],
    ['like', 'x*', 'matches "x*"'],
  ])('the part of a text after %s fits a value of the domain: %s', (name, value, said) => {
    const message = `no value of resource.state ${said}: expected text that fits one of "open", "closed"`;
    expect(validate(operatorOf(name), value)).toBe(said === undefined ? undefined : message);
  });

  it.each(['startsWith', 'endsWith', 'like'])('the negation of %s accepts the literals that the operator accepts', (name) => {
    const operator = operatorOf(name);
    const negation = defineNegation(operator, { name: `n${name}`, label: 'not', summary: 'Not.' });
    for (const value of ['o', 'closed', 'x', 'open*', '*']) expect(validate(negation, value)).toBe(validate(operator, value));
  });
});
