import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expensesApp } from '../../../examples/expenses/app.ts';
import { createBooks } from '../../../examples/expenses/books.ts';

const books = createBooks((line) => void process.stdout.write(`books: ${line}\n`));
const fileOf = (employeeId: number): string => join(tmpdir(), `redress-employee-${employeeId}`);

/** The example with a directory of employees that all processes of a local server share, and with a library that crashes at one picture. */
export default expensesApp({
  ...books,
  hire: (employeeId) => writeFileSync(fileOf(employeeId), ''),
  isEmployee: (employeeId) => books.isEmployee(employeeId) || existsSync(fileOf(employeeId)),
  totalOn(picture) {
    if (picture === 'deadly') process.exit(1);
    return books.totalOn(picture);
  },
});
