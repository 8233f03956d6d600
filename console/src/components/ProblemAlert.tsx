import { Alert, Anchor, Button, Code, Group, List, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ProblemBody, RequestError } from '../api/problem.ts';
import { useAuditRights } from '../shell/useAuditRights.ts';
import { commonTexts } from '../texts/common.ts';
import { isolateNames } from '../texts/sentence.ts';

/** Shows a refused or failed request: its sentence, its mistakes, code and request id, the decision for users who may read it, and a button that repeats it. */
export function ProblemAlert({ error, onRetry }: { readonly error: unknown; readonly onRetry?: (() => unknown) | undefined }) {
  const { title, detail, code, errors = [], requestId, decisionId } = toProblem(error);
  const { mayRead } = useAuditRights();
  return (
    <Alert color="red" variant="light" role="alert" title={title}>
      {detail !== undefined && detail !== title && !isListed(detail, errors) && <Text size="sm">{isolateNames(detail)}</Text>}
      {errors.length > 0 && (
        <List size="sm" mt="xs">
          {errors.map(({ path, detail: mistake }) => (
            <List.Item key={`${path} ${mistake}`}>
              {path !== '' && <Code>{path}</Code>} {mistake}
            </List.Item>
          ))}
        </List>
      )}
      <Group mt="sm" gap="md">
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {commonTexts.retry}
          </Button>
        )}
        {typeof decisionId === 'string' && mayRead && (
          <Anchor component={Link} to={`/decisions/${decisionId}`} size="sm">
            {commonTexts.showDecision}
          </Anchor>
        )}
        {typeof decisionId === 'string' && !mayRead && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {commonTexts.tellAdmin} <Code>{decisionId}</Code>
          </Text>
        )}
        <Text size="xs" c="dimmed">
          <Code>{code}</Code> {requestId !== undefined && `${commonTexts.requestId} ${requestId}`}
        </Text>
      </Group>
    </Alert>
  );
}

/** Returns true if the list of mistakes says all that the sentence says: the sentence of a single mistake is its path and detail. */
function isListed(detail: string, errors: NonNullable<ProblemBody['errors']>): boolean {
  return errors.length === 1 && errors.every((mistake) => detail === `${mistake.path}: ${mistake.detail}`);
}

function toProblem(error: unknown): Partial<ProblemBody> & Pick<ProblemBody, 'title' | 'code'> {
  if (error instanceof RequestError) return error.problem;
  return { title: error instanceof Error ? error.message : String(error), code: 'CONSOLE' };
}
