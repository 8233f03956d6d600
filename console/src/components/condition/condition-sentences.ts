/** Conditions as sentences, with the labels of the operators. */
import { builderTexts } from '../../texts/condition-builder.ts';
import { isolate } from '../../texts/sentence.ts';
import { type NamesById, nameOf } from '../names-by-id.ts';
import { type ConditionForm, type RelatedForm, readCondition } from './condition-json.ts';
import type { Operator } from './operand-forms.ts';
import { isReference, referencedPath } from './operand-forms.ts';

const texts = builderTexts.sentence;

/** The words of sentences about conditions. */
interface Vocabulary {
  readonly operators: readonly Operator[];
  /** The names of users and records that are shown instead of their ids. */
  readonly names: NamesById;
}

/** Returns a sentence about the conditions of a rule, which must all be true. */
export function describeConditions(conditions: readonly unknown[], vocabulary: Vocabulary): string {
  if (conditions.length === 0) return texts.always;
  const isSingle = conditions.length === 1;
  return conditions.map((condition) => describeForm(readCondition(condition), vocabulary, !isSingle)).join(texts.and);
}

function describeForm(form: ConditionForm, vocabulary: Vocabulary, isNested: boolean): string {
  switch (form.type) {
    case 'raw':
      return JSON.stringify(form.json);
    case 'expression':
      return isNested ? `(${form.expression})` : form.expression;
    case 'not':
      return `${texts.not} (${describeForm(readCondition(form.of), vocabulary, false)})`;
    case 'related':
      return isNested ? `(${describeRelated(form, vocabulary)})` : describeRelated(form, vocabulary);
    case 'comparison': {
      const { path, operator, value, ifExists } = form;
      const found = vocabulary.operators.find(({ name }) => name === operator);
      const text = describeComparison(path === '' ? texts.noPath : path, { operator, found, value }, vocabulary.names);
      return ifExists ? `${text} ${texts.ifExists}` : text;
    }
    default: {
      const isSingle = form.of.length === 1;
      const members = form.of.map((member) => describeForm(readCondition(member), vocabulary, !isSingle));
      const joined = members.join(form.type === 'anyOf' ? texts.or : texts.and);
      return isNested && !isSingle ? `(${joined})` : joined;
    }
  }
}

/** Returns the links and the conditions of related records as one sentence: `at least one Membership m where m.userId is user.id`. */
function describeRelated({ resource, as, on, where = [], atLeast, atMost }: RelatedForm, vocabulary: Vocabulary): string {
  const { operators, names } = vocabulary;
  const found = operators.find(({ name }) => name === 'eq');
  const links = Object.entries(on).map(([field, value]) => describeComparison(`${as}.${field}`, { operator: 'eq', found, value }, names));
  const conditions = where.map((condition) => describeForm(readCondition(condition), vocabulary, true));
  return relatedSentence({ resource, as, atLeast, atMost }, [...links, ...conditions]);
}

/** Returns a sentence about a number of related records, and what each of them meets. */
export function relatedSentence(
  { resource, as, atLeast, atMost }: Pick<RelatedForm, 'resource' | 'as' | 'atLeast' | 'atMost'>,
  met: readonly string[],
): string {
  const all = met.join(texts.and);
  return `${texts.count({ atLeast, atMost })} ${texts.related(resource, as)}${all === '' ? '' : `${texts.where}${all}`}`;
}

/** An operator with its operand. */
export interface Compared {
  /** The name of the operator. */
  readonly operator: string;
  /** The operator in the catalogue. */
  readonly found: Operator | undefined;
  readonly value: unknown;
}

function describeComparison(path: string, { operator, found, value }: Compared, names: NamesById): string {
  const { label, isComplete } = operatorWords({ operator, found, value });
  return isComplete ? `${path} ${label}` : `${path} ${label} ${describeOperand({ found, value }, names)}`;
}

/** The words of an operator in a comparison. */
export interface OperatorWords {
  readonly label: string;
  /** True if no operand follows: the words say it, as `has a value` does. */
  readonly isComplete: boolean;
}

/** Returns the words of an operator: its label, or its name if the catalogue does not have it. */
export function operatorWords({ operator, found, value }: Compared): OperatorWords {
  if (found?.operand !== 'boolean' || typeof value !== 'boolean') return { label: found?.label ?? operator, isComplete: false };
  const negated = texts.negated[operator as keyof typeof texts.negated] ?? `${texts.not} ${found.label}`;
  return { label: value ? found.label : negated, isComplete: true };
}

function describeOperand({ found, value }: Pick<Compared, 'found' | 'value'>, names: NamesById): string {
  if (value === undefined) return texts.noValue;
  if (isReference(value)) return referencedPath(value);
  if (found?.operand === 'daysOfWeek' && Array.isArray(value))
    return value.map((day) => builderTexts.days[Number(day) - 1] ?? String(day)).join(', ');
  const isPair = found?.operand === 'range' || found?.operand === 'timesOfDay';
  if (Array.isArray(value)) return value.map((item) => describeItem(item, names)).join(isPair ? texts.and : ', ') || texts.nothing;
  return found?.operand === 'duration' || found?.operand === 'networks' ? String(value) : describeItem(value, names);
}

function describeItem(item: unknown, names: NamesById): string {
  if (isReference(item)) return referencedPath(item);
  const name = typeof item === 'string' ? nameOf(item, names) : undefined;
  return isolate(name ?? JSON.stringify(item));
}
