import { isObject } from '#core/data/json';
import type { Template } from '#core/definition/definition';
import { isCel } from '#core/definition/program';

/** Returns an expression as written, and any other template like JSON with the expressions in it. */
export function templateText(template: Template): string {
  if (isCel(template)) return template.$cel;
  if (Array.isArray(template)) return `[${template.map(templateText).join(', ')}]`;
  if (!isObject(template)) return JSON.stringify(template);
  return `{ ${Object.entries(template)
    .map(([key, value]) => `${key}: ${templateText(value as Template)}`)
    .join(', ')} }`;
}

/** Returns the names of the fields of an object, and any other template as text. */
export const partsOf = (template: Template): string =>
  isObject(template) && !isCel(template) ? Object.keys(template).join(', ') : templateText(template);
