import { Alert, Anchor, Button, Code, Group, List, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { isDenial, type ProblemBody, RequestError } from '../api/problem.ts';
import { useAuditRights } from '../shell/useAuditRights.ts';
import { commonTexts } from '../texts/common.ts';
import { isolateNames } from '../texts/sentence.ts';
import { TextLink } from './TextLink.tsx';

/**
 * Statuses of requests that may succeed unchanged: without an answer, after too many requests, while the database is not available, and while a proxy
 * does not reach the service.
 */
const TEMPORARY: ReadonlySet<number | undefined> = new Set([0, 429, 502, 503, 504]);

/** Properties of a problem. */
interface ProblemAlertProps {
  readonly error: unknown;
  /** Repeats the request, which changes nothing. It is not offered for a denial, which stays until policies change. */
  readonly onRetry?: (() => unknown) | undefined;
  /** Repeats the request of a form. It is offered only if the same request may succeed later: other forms must be changed first. */
  readonly onRepeat?: (() => unknown) | undefined;
}

/** Shows a refused or failed request: its sentence, its mistakes, code and request id, the decision for users who may read it, and a button that repeats it. */
export function ProblemAlert({ error, onRetry, onRepeat }: ProblemAlertProps) {
  const { title, detail, code, status, errors = [], requestId, decisionId } = toProblem(error);
  const retry = (isDenial(code) ? undefined : onRetry) ?? (TEMPORARY.has(status) ? onRepeat : undefined);
  const { mayRead } = useAuditRights();
  return (
    <Alert color="red" variant="light" role="alert" title={title}>
      {detail !== undefined && detail !== title && !isListed(detail, errors) && <Text size="sm">{isolateNames(detail)}</Text>}
      {errors.length > 0 && (
        <List size="sm" mt="xs">
          {errors.map(({ path, detail: mistake }) => (
            <List.Item key={`${path} ${mistake}`}>
              {path !== '' && <Code>{path}</Code>} {isolateNames(mistake)}
            </List.Item>
          ))}
        </List>
      )}
      <Group mt="sm" gap="md">
        {retry && (
          <Button size="xs" variant="default" onClick={() => retry()}>
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
        {requestId !== undefined && mayRead && (
          <TextLink to="/decisions" search={{ requestId, range: 'all' }} size="xs">
            {commonTexts.requestId} {requestId}
          </TextLink>
        )}
        <Text size="xs" c="dimmed">
          <Code>{code}</Code> {requestId !== undefined && !mayRead && `${commonTexts.requestId} ${requestId}`}
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
