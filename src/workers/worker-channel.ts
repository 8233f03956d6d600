/** A way to send messages to another process, and to hear its. */
export interface Line {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** What the other side may say or ask, and what is made of it. */
export interface Heard {
  readonly said?: Readonly<Record<string, (value: unknown) => void>>;
  readonly asked?: Readonly<Record<string, () => Promise<unknown>>>;
}

/** Two processes that speak. */
export interface Channel {
  say(word: string, value?: unknown): void;
  /** What the other side answers; throws where it does not in time, or cannot. */
  ask(word: string): Promise<unknown>;
}

/** Milliseconds for an answer. */
const PATIENCE = 2000;

type Message =
  | { readonly say: string; readonly value?: unknown }
  | { readonly ask: string; readonly id: number }
  | { readonly answer: number; readonly value?: unknown; readonly failed?: string };

/** Opens a channel on a line. */
export function openChannel(line: Line, { said = {}, asked = {} }: Heard): Channel {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let asks = 0;

  async function answer(word: string, id: number): Promise<void> {
    try {
      line.send({ answer: id, value: await asked[word]?.() } satisfies Message);
    } catch (error) {
      line.send({ answer: id, failed: error instanceof Error ? error.message : String(error) } satisfies Message);
    }
  }

  line.onMessage((message) => {
    // Processes of one program: what arrives is what is sent below, or of somebody who listens to nothing of it.
    const heard = message as Partial<{ say: string; ask: string; id: number; answer: number; failed: string; value: unknown }>;
    if (heard.say !== undefined) said[heard.say]?.(heard.value);
    else if (heard.ask !== undefined) void answer(heard.ask, heard.id ?? 0);
    else if (heard.answer !== undefined) {
      const asking = waiting.get(heard.answer);
      if (heard.failed === undefined) asking?.resolve(heard.value);
      else asking?.reject(new Error(heard.failed));
    }
  });

  return {
    say: (word, value) => line.send({ say: word, value } satisfies Message),
    async ask(word) {
      const id = ++asks;
      const asking = Promise.withResolvers<unknown>();
      const late = setTimeout(() => asking.reject(new Error(`a process does not answer "${word}"`)), PATIENCE);
      waiting.set(id, asking);
      try {
        line.send({ ask: word, id } satisfies Message);
        return await asking.promise;
      } finally {
        clearTimeout(late);
        waiting.delete(id);
      }
    },
  };
}
