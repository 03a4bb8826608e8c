import { openingOf, safeOf } from '../app.ts';
import type { Happening } from '../sight.ts';
import { type Law, on } from './law.ts';

type Looked = Extract<Happening, { type: 'looked' }>;

const hidden = '[secret]';

/** F-160, S24: of what a step has answered, and of what its undo is asked with, what is secret is masked, and nothing else. */
export const masks = (): Law => ({
  name: 'masks',
  after: on(['looked'], ({ orderId, rev, steps, plan }: Looked) => {
    const shown = [
      ...plan.steps.filter(({ operation }) => operation === 'unlock').map(({ input }) => [input, openedAs] as const),
      ...steps.filter(({ operation }) => operation === 'lock').map(({ output }) => [output, lockedAs] as const),
    ];
    const wrong = shown.find(([value, wanted]) => value !== null && JSON.stringify(value) !== JSON.stringify(wanted(idIn(value))));
    return (
      wrong && `${orderId}, rev ${rev}: it is shown as ${JSON.stringify(wrong[0])} instead of ${JSON.stringify(wrong[1](idIn(wrong[0])))}`
    );
  }),
});

const idIn = (value: unknown): string => String((value as { readonly id?: unknown } | null)?.id);
const openedAs = (id: string) => ({ ...openingOf(id), pin: hidden, hint: hidden });
const lockedAs = (id: string) => ({ id, safe: { ...safeOf(id), pin: hidden, sign: hidden } });
