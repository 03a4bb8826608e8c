import type { Meter } from '#adapters/aws/meter';
import type { CreateFunction } from '#runtime/function';

/** Loads functions and counts the calls of each for its role. */
export const meteredLoad =
  (load: (file: string) => Promise<{ readonly create: CreateFunction }>, { within }: Pick<Meter, 'within'>) =>
  async (file: string): Promise<{ readonly create: CreateFunction }> => {
    const { create } = await load(file);
    return {
      create: (context) => {
        const handler = create(context);
        return (event, invocation) => within({ role: file }, () => handler(event, invocation));
      },
    };
  };
