import { type App, defineApp } from 'redress';
import { type Books, createBooks } from './books.ts';
import { processors } from './processors.ts';
import { bank, reimburse } from './workflow.ts';

export const expensesApp = (books: Books): App =>
  defineApp({
    workflows: [reimburse],
    agents: [bank],
    consumers: processors(books),
    channels: {
      expenses: { maxFailures: 3 },
      receipts: { maxFailures: 2, batchSize: 1, logsSender: false },
      statuses: { drop: ['status'] },
      stock: { maxFailures: 0, conversation: 'goes on', logsBody: true },
    },
  });

export default expensesApp(createBooks((line) => void process.stdout.write(`books: ${line}\n`)));
