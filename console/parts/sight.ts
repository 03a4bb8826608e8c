/** The height of the header, which stays over the page, with some room. */
const headPx = 64;

/** Scrolls the page, if an element is not wholly in sight. */
export function bringIntoSight(element: Element | null | undefined): void {
  if (!element) return;
  const { top, bottom } = element.getBoundingClientRect();
  if (top < headPx || bottom > innerHeight - headPx) element.scrollIntoView({ block: 'center' });
}

/** Moves the focus to an element that shows an outcome, and brings it into sight. */
export function focusOn(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
  bringIntoSight(element);
}
