/** Residual conditions as words. */
import { builderTexts } from '../../texts/condition-builder.ts';
import { relatedSentence } from '../condition/condition-sentences.ts';
import { isReference, referencedPath } from '../condition/operand-forms.ts';
import { type ConditionTrace, membersOf, printValue, type TraceVocabulary, traceOperatorWords } from './condition-words.ts';

const texts = builderTexts.sentence;

/** Returns a sentence about a residual condition: `resource.department is "politics" or resource.status is one of ["published"]`. */
export function describeResidual(trace: ConditionTrace, vocabulary: TraceVocabulary): string {
  return describe(trace, vocabulary, false);
}

function describe(trace: ConditionTrace, vocabulary: TraceVocabulary, isNested: boolean): string {
  const inParentheses = (text: string): string => (isNested ? `(${text})` : text);
  const members = membersOf(trace);
  switch (trace.type) {
    case 'comparison':
      return residualComparison(trace, vocabulary);
    case 'related':
      return inParentheses(residualRelated(trace, vocabulary));
    case 'expression':
      return inParentheses(trace.source ?? '');
    case 'not':
      return `${texts.not} (${members.map((member) => describe(member, vocabulary, false)).join('')})`;
    case 'constant':
      return texts.constant[trace.answer];
    default: {
      const isSingle = members.length === 1;
      const joined = members.map((member) => describe(member, vocabulary, !isSingle)).join(trace.type === 'any' ? texts.or : texts.and);
      return isSingle ? joined : inParentheses(joined);
    }
  }
}

function residualComparison(trace: ConditionTrace, { operators, names }: TraceVocabulary): string {
  const { label, isComplete } = traceOperatorWords(trace, operators);
  const text = `${trace.field ?? ''} ${label}${isComplete ? '' : ` ${printRight(trace, names)}`}`;
  return trace.ifExists === true ? `${text} ${texts.ifExists}` : text;
}

function printRight({ written, expected }: Pick<ConditionTrace, 'written' | 'expected'>, names: TraceVocabulary['names']): string {
  if (written === undefined) return printValue(expected, names);
  return isReference(written) ? referencedPath(written) : written;
}

/** Returns the links and the conditions of related records: `at least one Membership m where m.userId is "u1" and m.level is "owner"`. */
function residualRelated({ resource = '', as = '', on = [], where, atLeast, atMost }: ConditionTrace, vocabulary: TraceVocabulary): string {
  const { operators, names } = vocabulary;
  const { label } = traceOperatorWords({ type: 'comparison', operator: 'eq', answer: 'open' }, operators);
  const links = on.map((link) => `${as}.${link.field} ${label} ${printRight(link, names)}`);
  const conditions = where === undefined ? [] : [describe(where, vocabulary, true)];
  return relatedSentence({ resource, as, atLeast, atMost }, [...links, ...conditions]);
}
