import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const most = { file: 300, function: 70, class: 200 } as const;

/** A file, function or class above its limit. `name` is the file's path alone, or the path and the name of the function or class. */
interface Exception {
  readonly name: string;
  readonly reason: string;
}

const exceptions: readonly Exception[] = [];
const exceptionsMax = 5;

interface Sized {
  readonly name: string;
  readonly kind: keyof typeof most;
  readonly lines: number;
}

/** Returns a file with its functions and classes. A function includes the functions inside it, so the whole body of a factory counts. */
function sizesIn(path: string, text: string): readonly Sized[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const found: Sized[] = [{ name: path, kind: 'file', lines: text.trimEnd().split('\n').length }];
  const visit = (node: ts.Node): void => {
    const kind = ts.isClassLike(node) ? 'class' : ts.isFunctionLike(node) ? 'function' : undefined;
    if (kind) found.push({ name: `${path} ${nameOf(node)}`, kind, lines: lineAt(node.end) - lineAt(node.getStart(source)) + 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns the name of a function or class, or the name of the variable, property or callee that it belongs to. */
function nameOf(node: ts.Node): string {
  const { name } = node as ts.NamedDeclaration;
  if (name) return name.getText();
  if (ts.isConstructorDeclaration(node)) return `${nameOf(node.parent)}.constructor`;
  if (ts.isCallExpression(node.parent)) return `argument of ${node.parent.expression.getText()}`;
  return ts.isSourceFile(node.parent) ? 'default export' : nameOf(node.parent);
}

const sizes = globSync('lib/**/*.ts', { cwd: root })
  .sort()
  .flatMap((path) => sizesIn(path, readFileSync(`${root}${path}`, 'utf8')));
const tooLarge = sizes.filter(({ kind, lines }) => lines > most[kind]);

test('no file of lib has more than 300 lines, no function more than 70, no class more than 200', () => {
  const excepted = new Set(exceptions.map(({ name }) => name));
  assert.ok(sizes.length > 1000);
  assert.deepEqual(
    tooLarge.filter(({ name }) => !excepted.has(name)).map(({ name, kind, lines }) => `${name}: a ${kind} of ${lines} lines`),
    [],
  );
});

test('each of the few exceptions from these limits has a reason and is still necessary', () => {
  const large = new Set(tooLarge.map(({ name }) => name));
  assert.ok(exceptions.length <= exceptionsMax);
  assert.deepEqual(
    exceptions.filter(({ name, reason }) => reason === '' || !large.has(name)),
    [],
  );
});

test('the size of a factory includes the functions that it returns', () => {
  const code = 'export const make = () => {\n  return {\n    one() {\n      return 1;\n    },\n  };\n};\nclass C {\n}\n';
  assert.deepEqual(sizesIn('code.ts', code), [
    { name: 'code.ts', kind: 'file', lines: 9 },
    { name: 'code.ts make', kind: 'function', lines: 7 },
    { name: 'code.ts one', kind: 'function', lines: 3 },
    { name: 'code.ts C', kind: 'class', lines: 2 },
  ]);
});
