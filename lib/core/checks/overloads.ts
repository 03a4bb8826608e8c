import { type OperandType, operandTypes, resultOf } from '#core/definition/expression';
import { alternatives, bool, double, isNever, never, nothing, type Type, text, unionOf, unknown } from './types.ts';

/** Above this number of combinations of operand types, none is tried, and the type is unknown. */
const combinationsMax = 24;

/**
 * Returns the type that an operator or a function yields for these operands, as the expression library defines it.
 * Undefined if it accepts no combination of their alternatives.
 */
export function yielded(form: (...operands: string[]) => string, operands: readonly Type[]): Type | undefined {
  if (operands.some(isNever)) return never;
  const combinations = operands.reduce<OperandType[][]>(
    (found, operand) => found.flatMap((before) => alternatives(operand).map((each) => [...before, operandType(each)])),
    [[]],
  );
  if (combinations.length > combinationsMax) return unknown;
  const results = combinations.map((types) => resultOf(form, types)).filter((result) => result !== undefined);
  return results.length === 0 ? undefined : unionOf(results.map(typeNamed));
}

function operandType(type: Type): OperandType {
  switch (type.kind) {
    case 'number':
      return type.whole ? 'int' : 'double';
    case 'object':
      return 'map';
    case 'bool':
    case 'null':
    case 'string':
      return type.kind;
    case 'list':
      return namedOrDyn(`list<${operandType(type.item)}>`);
    case 'cel':
      return namedOrDyn(type.name);
    default:
      return 'dyn';
  }
}

/** Returns the operand type of this name, or else `dyn`: the library rejects operations on some lists that would work at run time. */
const namedOrDyn = (name: string): OperandType => operandTypes.find((type) => type === name) ?? 'dyn';

function typeNamed(name: string): Type {
  const [, item] = /^list<(.*)>$/.exec(name) ?? [];
  if (item !== undefined || name === 'list') return { kind: 'list', item: item === undefined ? unknown : typeNamed(item) };
  switch (name) {
    case 'string':
      return text;
    case 'bool':
      return bool;
    case 'double':
      return double;
    case 'int':
      return { kind: 'number', whole: true };
    case 'null':
      return nothing;
    default:
      return name.startsWith('google.protobuf.') ? { kind: 'cel', name } : unknown;
  }
}
