import { type Consumer, defineConsumer, messageType, PermanentFailure, UnprocessableMessage } from 'redress';
import * as z from 'zod';
import type { Books } from './books.ts';

const Employee = z.object({ employeeId: z.int().min(1) });
const ExpenseReport = Employee.extend({ amount: z.int().min(1) });

/** The largest number of an employee. */
const employeesMax = 99_999;

/** Four processors, each with its own treatment of messages that fail: see `channels` in app.ts. */
export const processors = (books: Books): readonly Consumer[] => [
  // The report of a new employee may arrive before the message `new-employee`: a few failures are normal.
  defineConsumer('expenses', {
    'new-employee': messageType({ body: Employee, handle: ({ employeeId }) => books.hire(employeeId) }),
    'expense-report': messageType({
      body: ExpenseReport,
      async handle({ employeeId, amount }, { orders, conversation, messageId }) {
        if (employeeId > employeesMax) throw new PermanentFailure('NoSuchEmployee', `The number ${employeeId} is not in use.`);
        if (!books.isEmployee(employeeId)) throw new UnprocessableMessage(`The employee ${employeeId} is not known yet.`);
        const order = { employeeId, amount };
        await orders.submit({ workflow: 'reimburse', idempotencyKey: conversation ?? messageId, order });
      },
    }),
  }),

  // Pictures may crash the library that reads them. They come one at a time, so that a crash affects no other message.
  defineConsumer('receipts', {
    receipt: messageType({
      body: z.object({ picture: z.string() }),
      handle: ({ picture }) => books.note(`a receipt of ${books.totalOn(picture)}`),
    }),
  }),

  // A status is soon replaced by the next one.
  defineConsumer('statuses', {
    status: messageType({ body: z.object({ text: z.string().min(1) }), handle: ({ text }) => books.note(`status ${text}`) }),
  }),

  // An unknown article does not end the conversation: an operator adds the article, and resubmits its message.
  defineConsumer('stock', {
    'stock-level': messageType({
      body: z.object({ article: z.string(), count: z.int().min(0) }),
      handle({ article, count }) {
        if (!books.setStock(article, count)) throw new UnprocessableMessage(`There is no article ${article}.`);
      },
    }),
  }),
];
