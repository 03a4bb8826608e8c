import { typeOfTemplate } from '#core/checks/assignability';
import { typeOfExpression } from '#core/checks/expression-types';
import { typeOfSchema } from '#core/checks/json-schema-types';
import { double, never, objectOf, type Type, text, unknown } from '#core/checks/types';
import type { Json } from '#core/data/json';
import { parseExpression } from '#core/definition/expression';
import { order } from './typed-order.ts';

/** A type in words; objects two levels deep. */
export function shown(type: Type, level = 0): string {
  switch (type.kind) {
    case 'number':
      return type.whole ? 'int' : 'double';
    case 'string':
      return type.among ? type.among.map((name) => JSON.stringify(name)).join(' or ') : 'string';
    case 'list':
      return `list of ${shown(type.item, level)}`;
    case 'object': {
      if (level > 1) return 'object';
      const fields = [...type.fields].map(([name, field]) => `${name}${field.required ? '' : '?'}: ${shown(field.type, level + 1)}`);
      const { others } = type;
      const rest = others === 'none' ? [] : [`...${others === 'unsaid' ? others : shown(others, level + 1)}`];
      return `{${[...fields, ...rest].join(', ')}}`;
    }
    case 'optional':
      return `optional ${shown(type.of, level)}`;
    case 'union':
      return type.of.length === 0 ? 'never' : `(${type.of.map((each) => shown(each, level)).join(' | ')})`;
    case 'cel':
      return type.name;
    default:
      return type.kind;
  }
}

/** Steps, variables and loops called `none` are always missing; all others have a text and a number. */
const readable = {
  order: typeOfSchema(order),
  fault: objectOf({ type: text }),
  step: (name: string) => (name === 'none' ? never : objectOf({ id: text, n: double })),
  variable: (name: string) => (name === 'none' ? never : unknown),
  loop: () => objectOf({ item: text, index: double }),
  isTestedFor: () => false,
};

/** The type of an expression's result, and the messages about it with their places. */
export function typed(expression: string): readonly string[] {
  const parsed = parseExpression(expression);
  if (!parsed.ok) return [`refused: ${parsed.message}`];
  const said: string[] = [];
  const type = typeOfExpression(parsed.expression.ast, readable, (message, position, severity = 'error') => {
    said.push(`${severity} at ${position}: ${message}`);
  });
  return [shown(type), ...said];
}

/** The type of a template's result under a schema, and the messages about it. */
export function fitted(template: Json, wanted: Json, what?: string): readonly string[] {
  const said: string[] = [];
  const say = (message: string, severity = 'error') => {
    said.push(`${severity}: ${message}`);
  };
  const type = typeOfTemplate(template, typeOfSchema(wanted), { readable, receiver: 'payment.charge', what, say });
  return [shown(type), ...said];
}
