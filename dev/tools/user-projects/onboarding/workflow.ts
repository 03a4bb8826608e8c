import { choice, defineWorkflow, NoSignal, not, raise, retry, sequence, text, waitFor, when, withOutput } from 'redress';
import * as z from 'zod';
import { facilities, it } from './agents.ts';
import { NoDesk, NotApproved, Refused } from './faults.ts';

const Employee = z.object({ name: z.string(), email: z.email(), manager: z.email(), model: z.string(), city: z.string() });

export const approval = waitFor('approval', z.object({ approved: z.boolean() }), { withinSeconds: 3 * 86_400 });

export const onboard = defineWorkflow('onboard', { version: 1, order: Employee, toOperator: [NoDesk] }, ({ order }) => {
  const account = it.createAccount({ name: order.name, email: order.email }).undo(({ accountId }) => it.deleteAccount({ accountId }));

  const refuse = raise(NotApproved, text`${order.manager} has refused.`);
  const decision = choice(when(not(approval.output.approved), refuse));

  const laptop = it
    .provisionLaptop({ accountId: account.output.accountId, model: order.model })
    .undo(({ laptopId }) => it.returnLaptop({ laptopId }));
  const patiently = retry(laptop, { retries: 3, intervalSeconds: 30 });

  const desk = facilities.bookDesk({ name: order.name, city: order.city }).undo(({ deskId }) => facilities.releaseDesk({ deskId }));

  const welcome = facilities
    .mail({ to: order.email, text: text`Welcome, ${order.name}!` })
    .named('welcome')
    .noUndo();
  const tell = facilities
    .mail({ to: order.manager, text: text`${order.name} cannot start.` })
    .named('tell')
    .noUndo();

  const everything = sequence(account, approval, decision, patiently, desk, welcome)
    .on(Refused, ({ compensate }) => sequence(compensate(), tell))
    .on(NoSignal, ({ compensate }) => sequence(compensate(), tell));

  return withOutput(everything, { account: account.output.accountId, laptop: laptop.output.laptopId, desk: desk.output.deskId });
});
