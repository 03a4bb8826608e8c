import type { Order } from '../api/types.ts';
import { bringIntoSight } from '../parts/sight.ts';

/** Brings the value that the fault is about into sight, or else the first one, and moves the focus there: a person can type at once. */
export function showFirst(form: HTMLElement | null, fault: Order['fault']): void {
  const all = [...(form?.querySelectorAll<HTMLElement>('.body :is(input, textarea, select):not(#instruct-kind)') ?? [])];
  const fields = all.filter((each) => each.checkVisibility());
  const words = wordsOf(fault);
  const field =
    fields.find((each) => words.has(nameOf(form?.querySelector(`label[for="${CSS.escape(each.id)}"]`)))) ??
    fields.find((each) => words.has(nameOf(each.closest('.nested')?.querySelector('legend')))) ??
    fields.find((each) => each.closest('.value-field')) ??
    fields[0];
  // A phone would open its keyboard over the page.
  if (!matchMedia('(pointer: coarse)').matches) field?.focus({ preventScroll: true });
  bringIntoSight(field?.closest('.field') ?? field);
}

/** `postalcode` of the label `postalCode (optional)`. */
const nameOf = (label: Element | null | undefined): string => label?.textContent.replace(/ \(optional\)$/, '').toLowerCase() ?? '';

/** The words of a fault, in small letters: `address` and `invalid` of `AddressInvalid`, and those of its message and data. */
function wordsOf(fault: Order['fault']): ReadonlySet<string> {
  if (!fault) return new Set();
  const type = fault.type.replaceAll(/(?=[A-Z])/g, ' ');
  const text = `${type} ${fault.message} ${JSON.stringify(fault.data ?? '')}`.toLowerCase();
  return new Set(text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''));
}
