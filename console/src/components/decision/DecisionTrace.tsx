import { Badge, Card, Code, Group, Stack, Text } from '@mantine/core';
import type { Schemas } from '../../api/client.ts';
import { decisionsTexts } from '../../texts/decisions.ts';
import { PolicyLink } from '../PolicyLink.tsx';
import {
  type ConditionTrace,
  describeAncestors,
  describeRelatedTrace,
  membersOf,
  printExpected,
  printRecord,
  printValue,
  traceOperatorWords,
} from './condition-words.ts';
import classes from './DecisionTrace.module.css';
import { decidesGroup } from './deciding-path.ts';
import { wordsBeforeValue, wordsOfRemoval } from './denied-update.ts';
import { useTraceVocabulary } from './trace-vocabulary.ts';

type RuleTrace = Schemas['admin.RuleTrace'];

const texts = decisionsTexts.trace;

const MARKS = {
  true: { mark: '✓', color: 'green' },
  false: { mark: '✕', color: 'red' },
  unknown: { mark: '?', color: 'orange' },
  open: { mark: '…', color: 'blue' },
} as const;

/** The rules that were evaluated, in order, each as a tree of conditions. The deciding rule is marked. */
export function DecisionTrace({ trace }: { readonly trace: readonly RuleTrace[] }) {
  return (
    <Stack gap="xs" component="ol" className={classes['list'] ?? ''}>
      {trace.map((rule) => (
        <li key={`${rule.policy.id} ${rule.rule.id} ${rule.assignment.priority}`}>
          <RuleCard trace={rule} />
        </li>
      ))}
    </Stack>
  );
}

function RuleCard({ trace: { rule, policy, answer, fired, condition } }: { readonly trace: RuleTrace }) {
  return (
    <Card withBorder padding="sm" className={(fired ? classes['fired'] : undefined) ?? ''}>
      <Group gap="xs" mb={4}>
        <Badge color={rule.effect === 'ALLOW' ? 'green' : 'red'}>{rule.effect}</Badge>
        <Answer answer={answer} />
        {fired && <Badge variant="filled">{texts.decided}</Badge>}
        <PolicyLink id={policy.id} rule={rule.id} size="sm">
          {policy.name}
        </PolicyLink>
        <Text size="xs" c="dimmed">
          {texts.priority(rule.priority)}
        </Text>
      </Group>
      {rule.description !== undefined && (
        <Text size="sm" mb={4}>
          {rule.description}
        </Text>
      )}
      <ConditionTree trace={condition} />
    </Card>
  );
}

/**
 * A tree of conditions, each with its answer, the value that was expected and the value that was found. The line beside the members that decide the
 * answer has another colour, from the root to the comparisons.
 */
function ConditionTree({ trace, decides = true }: { readonly trace: ConditionTrace; readonly decides?: boolean }) {
  const members = membersOf(trace);
  if (members.length > 0) {
    return (
      <div>
        <Group gap={6}>
          <Answer answer={trace.answer} />
          <Text size="sm">{texts[trace.type as 'all' | 'any' | 'not']}</Text>
        </Group>
        <ul className={classes['tree']}>
          {members.map((member) => (
            <li key={JSON.stringify(member)} {...(decides && decidesGroup(member, trace) && { 'data-decides': true })}>
              <ConditionTree trace={member} decides={decides && decidesGroup(member, trace)} />
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <Group gap={6} align="baseline" wrap="nowrap">
      <Answer answer={trace.answer} />
      <Comparison trace={trace} />
    </Group>
  );
}

function Comparison({ trace }: { readonly trace: ConditionTrace }) {
  const { operators, names, update } = useTraceVocabulary();
  if (trace.type === 'related') return <RelatedTrace trace={trace} />;
  if (trace.type === 'expression') return <Code className={classes['code'] ?? ''}>{trace.source}</Code>;
  if (trace.field === undefined) return <Text size="sm">{texts.always}</Text>;
  const { label, isComplete } = traceOperatorWords(trace, operators);
  const ancestors = describeAncestors(trace, names);
  return (
    <Text size="sm" className={classes['code'] ?? ''}>
      <Code>{trace.field}</Code> {label} {!isComplete && <Code>{printExpected(trace, names)}</Code>}
      {trace.answer !== 'open' && (
        <Text span c="dimmed">
          {' · '}
          {trace.missing === true ? (wordsOfRemoval(trace, update) ?? texts.missing) : `${wordsBeforeValue(trace, update)} `}
          {trace.missing !== true && <Code>{printValue(trace.actual, names)}</Code>}
          {ancestors !== undefined && ` · ${ancestors}`}
        </Text>
      )}
    </Text>
  );
}

/** Shows a condition on related records: the links, the counts, and the records that decide it. */
function RelatedTrace({ trace }: { readonly trace: ConditionTrace }) {
  const { names } = useTraceVocabulary();
  const { records = [] } = trace;
  return (
    <div>
      <Text size="sm">{describeRelatedTrace(trace, names)}</Text>
      <ul className={classes['tree']}>
        {records.map(({ id, missing, where }) => (
          <li key={id}>
            <Code>{printRecord(id, names)}</Code>
            {missing === true && (
              <Text span size="sm" c="dimmed">
                {' · '}
                {decisionsTexts.related.missing}
              </Text>
            )}
            <ConditionTree trace={where as ConditionTrace} />
          </li>
        ))}
        {trace.where !== undefined && (
          <li>
            <ConditionTree trace={trace.where} />
          </li>
        )}
      </ul>
    </div>
  );
}

function Answer({ answer }: { readonly answer: keyof typeof MARKS }) {
  const { mark, color } = MARKS[answer];
  return (
    <Badge size="sm" color={color} leftSection={<span aria-hidden="true">{mark}</span>}>
      {texts.answers[answer]}
    </Badge>
  );
}
