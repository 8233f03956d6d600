import { Center, Container } from '@mantine/core';
import { ProblemAlert } from '../components/ProblemAlert.tsx';

/** Shown instead of the console while the service does not answer. */
export function ServiceUnavailable({ error, onRetry }: { readonly error: unknown; onRetry(): unknown }) {
  return (
    <Center mih="100vh">
      <Container size="xs" w="100%" component="main">
        <ProblemAlert error={error} onRetry={onRetry} />
      </Container>
    </Center>
  );
}
