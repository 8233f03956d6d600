import { Badge, Box, Group, NativeSelect } from '@mantine/core';
import { builderTexts as texts } from '../../texts/condition-builder.ts';
import { useEmptyMistake } from '../useEmptyMistake.ts';
import { useBuilder } from './builder-context.ts';
import classes from './condition.module.css';
import type { ComparisonForm } from './condition-json.ts';
import { mistakesAt } from './condition-mistakes.ts';
import { findPath, type PathOption } from './condition-paths.ts';
import { OperandInput } from './OperandInput.tsx';
import { initialValue, isReference, keepValue, type Operator, operatorsFor, suggestReference } from './operand-forms.ts';
import { PathInput } from './PathInput.tsx';
import { ReferenceToggle } from './ReferenceToggle.tsx';

/** Properties of a comparison. */
interface ComparisonRowProps {
  readonly form: ComparisonForm;
  readonly at: string;
  onChange(form: ComparisonForm): void;
}

/** A comparison: its path, an operator that fits, and an editor for the value. */
export function ComparisonRow({ form, at, onChange }: ComparisonRowProps) {
  const { catalogue, options, issues, progress } = useBuilder();
  const option = findPath(options, form.path);
  const fitting = operatorsFor(catalogue, option);
  const operator = catalogue.operators.find(({ name }) => name === form.operator);
  const path = useEmptyMistake({
    isEmpty: form.path === '',
    mistake: mistakesAt(issues, `${at}.field`) ?? mistakesAt(issues, `${at}.context`),
    words: texts.emptyPath,
    progress,
  });
  const value = useEmptyMistake({
    isEmpty: form.value === '',
    mistake: mistakesAt(issues, `${at}.value`),
    words: option?.values === undefined ? texts.emptyValue : texts.emptyChoice,
    progress,
  });
  const isReferring = isReference(form.value);
  const toggle = () => onChange({ ...form, value: isReferring ? initialValue(operator, option) : suggestReference(options, option) });
  return (
    <Group gap={6} align="flex-start">
      <Box className={classes['path'] ?? ''} onBlur={path.onBlur}>
        <PathInput
          value={form.path}
          error={path.error}
          onChange={(next) => onChange(withPath(form, next, { option: findPath(options, next), fitting: operatorsOf(next) }))}
        />
      </Box>
      <OperatorSelect
        operators={fitting}
        value={form.operator}
        error={mistakesAt(issues, `${at}.operator`)}
        onChange={(next) => onChange({ ...form, operator: next.name, value: keepValue(next, option, form.value) })}
      />
      <Box className={classes['operand'] ?? ''} onBlur={value.onBlur}>
        <OperandInput
          operator={operator}
          option={option}
          value={form.value}
          error={value.error}
          errorAt={(index) => mistakesAt(issues, `${at}.value.${index}`)}
          onChange={(next) => onChange({ ...form, value: next })}
        />
      </Box>
      <ReferenceToggle isReferring={isReferring} onToggle={toggle} />
      {form.ifExists && (
        <Badge mt={8} color="gray">
          {texts.ifExists}
        </Badge>
      )}
    </Group>
  );

  function operatorsOf(path: string): readonly Operator[] {
    return operatorsFor(catalogue, findPath(options, path));
  }
}

/** Returns the comparison with another path. An operator or value that does not fit the new path is replaced; half a path changes neither. */
function withPath(
  form: ComparisonForm,
  path: string,
  { option, fitting }: { readonly option: PathOption | undefined; readonly fitting: readonly Operator[] },
): ComparisonForm {
  if (option === undefined) return { ...form, path };
  const operator = fitting.find(({ name }) => name === form.operator) ?? fitting[0];
  return { ...form, path, operator: operator?.name ?? form.operator, value: keepValue(operator, option, form.value) };
}

interface OperatorSelectProps {
  readonly operators: readonly Operator[];
  readonly value: string;
  readonly error: string | undefined;
  onChange(operator: Operator): void;
}

function OperatorSelect({ operators, value, error, onChange }: OperatorSelectProps) {
  const data = operators.map(({ name, label }) => ({ value: name, label }));
  // An operator that does not fit is shown with its mistake.
  if (!operators.some(({ name }) => name === value)) data.unshift({ value, label: value });
  return (
    <NativeSelect
      aria-label={texts.operator}
      className={classes['operator'] ?? ''}
      data={data}
      value={value}
      error={error}
      onChange={({ currentTarget }) => {
        const operator = operators.find((each) => each.name === currentTarget.value);
        if (operator !== undefined) onChange(operator);
      }}
    />
  );
}
