import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defineAgent, defineApp, defineWorkflow, fault, operation, sequence } from 'redress';
import * as z from 'zod';
import { changedPlaces, likelyPlace, withPlaces } from '#cli/input-places';
import { until } from '../support/until.ts';
import { type RunningSystem, redress, runningSystem } from './support.ts';

const AddressInvalid = fault('AddressInvalid');
const Dispatched = fault('AlreadyDispatched');
const Nothing = z.object({});
const Address = z.object({ city: z.string(), postalCode: z.string() });
const till = defineAgent('till', {
  charge: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
  refund: operation({ input: Nothing, output: Nothing, run: () => ({}) }),
});
const carrier = defineAgent('carrier', {
  ship: operation({
    input: z.object({ address: Address }),
    output: Nothing,
    faults: [AddressInvalid],
    run: ({ address }, call) => (address.postalCode === '00000' ? call.failed(AddressInvalid, 'No such postal code.') : {}),
  }),
  recall: operation({ input: Nothing, output: Nothing, faults: [Dispatched], run: (_, call) => call.failed(Dispatched, 'It has left.') }),
  label: operation({
    input: Nothing,
    output: Nothing,
    faults: [AddressInvalid],
    run: (_, call) => call.failed(AddressInvalid, 'No label.'),
  }),
});
const Order = z.object({ item: z.string(), card: z.string() });
const sell = defineWorkflow('fulfil-order', { version: 1, order: Order, toOperator: [AddressInvalid] }, ({ order }) =>
  sequence(
    till.charge({}).undo(() => till.refund({})),
    carrier.ship({ address: { city: order.item, postalCode: order.card } }).undo(() => carrier.recall({})),
    carrier.label({}),
  ),
);

describe("W-05, F-155: the operator's work at the command line", () => {
  let system: RunningSystem;
  before(async () => void (system = await runningSystem(defineApp({ workflows: [sell], agents: [till, carrier] }))));
  after(() => system.stop());

  const run = (...args: readonly string[]) => system.redress(args);
  const state = async (orderId: string) => (await run('order', 'get', orderId, '--json')).json;
  const blocked = async (postalCode: string): Promise<string> => {
    const order = JSON.stringify({ item: 'Berlin', card: postalCode });
    const { orderId } = (await system.redress(['order', 'submit', '-', '--json'], { input: order })).json;
    await system.reaches(orderId, ({ processState }) => processState === 'Error');
    return orderId;
  };
  /** Returns an order whose undo is stuck at its second step. */
  const stuck = async (): Promise<string> => {
    const orderId = await blocked('28195');
    assert.equal((await run('order', 'cancel', orderId, '--reason', 'she changed her mind', '--yes')).exitCode, 0);
    await system.reaches(orderId, ({ undo }) => (undo?.stuck ?? []).length > 0);
    return orderId;
  };

  test('an order that is blocked because a service refused an input is shown with its step, and another input is suggested first', async () => {
    const { out, err } = await run('order', 'get', await blocked('00000'));
    assert.match(out, /^input +of order\/ship: \{"address":\{"city":"Berlin","postalCode":"00000"\}\}$/m);
    assert.match(
      err,
      /^To request the failed step with another input: redress order replace-input \S+ --set address\.postalCode=… --reason '…' --dry-run\n.*resubmit/,
    );
  });

  test('a person sets one field of an input, and the dry run shows its old and its new value, and the steps that are not repeated', async () => {
    const orderId = await blocked('00000');
    const replace = (...more: readonly string[]) => run('order', 'replace-input', orderId, ...more);
    const set = ['--set', 'address.postalCode=10115'];
    const dry = await replace(...set, '--dry-run');
    assert.match(dry.out, /^will be requested +order\/ship +ship$/m);
    assert.match(dry.out, /^Input of order\/ship: address\.postalCode: "00000" becomes "10115"\.$/m);
    assert.match(dry.out, /^Not done again: order\/charge\.$/m);
    assert.match(dry.out, /^At most \d+ requests, if each step uses all its attempts\. On AWS they cost at most \$[\d.]+\.$/m);
    for (const more of [
      [],
      [...set, '--data', '{}'],
      ['--set', 'adress.street=x'],
      ['--set', 'address'],
      [...set, '--path', 'order/nowhere'],
    ])
      assert.equal((await replace(...more, '--reason', 'asked her')).exitCode, 2, more.join(' '));
    assert.equal((await replace(...set, '--reason', 'asked her')).exitCode, 0);
    const after = await system.reaches(orderId, ({ fault }) => fault?.source === 'order/label');
    assert.deepEqual(
      after.steps.slice(0, 2).map(({ attempts, result }: { attempts: number; result: string }) => [attempts, result]),
      [
        [1, 'Succeeded'],
        [2, 'Succeeded'],
      ],
    );
  });

  test('an order whose undo is stuck is shown with its exception, its task and the command that requests the undo again', async () => {
    const orderId = await stuck();
    const order = await system.reaches(orderId, ({ taskId }) => taskId !== undefined);
    const { out, err } = await run('order', 'get', orderId);
    assert.match(out, new RegExp(`^exception +${order.exceptionId}$`, 'm'));
    assert.match(out, new RegExp(`^task +${order.taskId}$`, 'm'));
    assert.match(err, /To request the failing undo again now: redress order retry-undo|^If \S+ was undone by hand/);
    const listed = await run('task', 'list', '--kind', 'undo-stuck');
    assert.match(listed.out, new RegExp(`^due .* order +reference +task\\n[\\s\\S]*${orderId} +tsk_`));
  });

  test('W-03: the last instruction is shown with its person and its verdict, and the history shows what the instruction changed', async () => {
    const orderId = await blocked('00000');
    const { taskId } = await state(orderId);
    const replace = (...set: readonly string[]) =>
      run('order', 'replace-input', orderId, '--set', ...set, '--reason', 'another town by telephone');
    assert.equal((await replace('address.city=Bremen')).exitCode, 0);
    await system.reaches(
      orderId,
      ({ processState, lastInstruction }) => processState === 'Error' && lastInstruction.verified === 'failed-again',
    );
    const failed = (await run('order', 'get', orderId)).out;
    assert.match(
      failed,
      /^last instruction +replace-input by cli at [\d-]+T[\d:]+Z: failed again: AddressInvalid \(No such postal code\.\)$/m,
    );
    assert.match(failed, /^its reason +another town by telephone$/m);
    assert.match(failed, /^it says +input \{"address":\{"city":"Bremen","postalCode":"00000"\}\}$/m);
    assert.match(failed, /^fault before +AddressInvalid \(No such postal code\.\)$/m);
    assert.match(failed, new RegExp(`^resolved task +${taskId}$`, 'm'));
    const { out } = await run('order', 'history', orderId);
    assert.match(
      out,
      /InstructionGiven +kind=replace-input by=cli input=\{"address":\{"city":"Bremen","postalCode":"00000"\}\} reason=another/,
    );
    assert.match(out, /ExceptionHandled .*\(then blocked: AddressInvalid at order\/ship\)$/m);

    assert.equal((await replace('address.postalCode=10115')).exitCode, 0);
    await system.reaches(orderId, ({ fault }) => fault?.source === 'order/label');
    assert.match((await run('order', 'get', orderId)).out, /^last instruction +replace-input by cli at \S+: passed$/m);
  });

  test('the audit shows whether an instruction has helped, and reads of orders only with --reads', async () => {
    const orderId = await blocked('00000');
    const replaced = ['order', 'replace-input', orderId, '--set', 'address.city=Ulm', '--reason', 'another town'];
    assert.equal((await run(...replaced)).exitCode, 0);
    await system.reaches(orderId, ({ lastInstruction }) => lastInstruction?.verified === 'failed-again');
    const audit = (...more: readonly string[]) => run('audit', '--target', orderId, ...more);
    await until(audit, ({ out }) => /failed again/.test(out));
    assert.match((await audit()).out, /^\S+ +cli +replace-input +instruction +\S+ +failed again +another town$/m);
    assert.doesNotMatch((await audit()).out, / read /);
    assert.deepEqual((await audit('--json')).json.items.length, 1);
    assert.match((await audit('--reads')).out, / read /);
    assert.match((await audit('--kind', 'read')).out, / read /);
  });

  test('an order that a person has canceled names that person and the reason, not the fault before', async () => {
    const orderId = await blocked('28195');
    await run('order', 'suspend', orderId, '--reason', 'wait');
    assert.equal((await run('order', 'cancel', orderId, '--reason', 'she changed her mind', '--yes')).exitCode, 0);
    await system.reaches(orderId, ({ undo }) => (undo?.stuck ?? []).length > 0);
    assert.match((await run('order', 'get', orderId)).out, /^cancel +by cli at \S+Z: she changed her mind$/m);
    assert.equal((await run('order', 'mark-compensated', orderId, '--reason', 'it is back', '--yes')).exitCode, 0);
    await system.reaches(orderId, ({ processState }) => processState === 'Processed');
    assert.match((await run('order', 'get', orderId)).out, /^state +Processed, canceled by cli: she changed her mind$/m);
    const watched = await run('order', 'watch', orderId);
    assert.match(watched.out, /^canceled .* s after its submission, by cli: she changed her mind$/m);
    assert.equal(watched.exitCode, 0, 'somebody wanted this end');
    assert.match((await run('order', 'list', '--outcome', 'canceled')).out, new RegExp(`^${orderId} +canceled +fulfil-order`, 'm'));
  });

  test('the check of a suspension names the undos that stop, and the check of mark-compensated names the step that counts as undone', async () => {
    const orderId = await stuck();
    const { out } = await run('order', 'suspend', orderId, '--dry-run');
    assert.match(out, /Its undo would stop\. Still to be undone: order\/ship, order\/charge\.$/m);
    const marked = await run('order', 'mark-compensated', orderId, '--dry-run');
    assert.match(marked.out, /^counts as undone +order\/ship$[\s\S]*^will be undone +order\/charge +refund$/m);
    const carried = `To carry it out: redress order mark-compensated ${orderId} --reason '…' --yes\n`;
    assert.equal(marked.err, `${carried}This cannot be taken back.\n`);
    assert.equal((await run('order', 'mark-compensated', orderId, '--dry-run', '--json')).err, 'This cannot be taken back: add --yes.\n');
    const refused = await run('order', 'resume', orderId, '--dry-run');
    assert.match(refused.out, /^refused +because\nnot-suspended +/);
  });
});

test('the help of an instruction says whether the command asks, and describes no data folder if --data has another meaning', async () => {
  const help = async (...command: readonly string[]) => (await redress([...command, '--help'])).out.replaceAll(/\s+/g, ' ');
  for (const kind of ['mark-compensated', 'cancel', 'skip', 'terminate'])
    assert.match(await help('order', kind), /--yes do not ask; without --yes, the command asks first/);
  for (const kind of ['suspend', 'resubmit', 'replace-input']) assert.match(await help('order', kind), /--yes with --all: start without/);
  assert.match(await help('order', 'replace-input'), /where there is text now, it stays text/);
  assert.match(await help(), /1 refused, 2 wrong use, .* such as order watch, 1 has more meanings/);
  assert.match(await help('order', 'suspend'), /its work, its undo and its deadlines stop/);
  assert.doesNotMatch(await help('order', 'replace-input'), /--data <folder>/);
  assert.match(await help('order', 'list'), /--data <folder>[\s\S]*redress task list/);
  assert.match(
    await help('order', 'watch'),
    /Exit codes: 0 it has completed, was canceled, or a person has ended it .* 1 it has ended otherwise/,
  );
});

test('a field of an input is named with dots or by a pointer; text stays text, and other values are JSON', () => {
  const input = { address: { postalCode: '1', floor: 2 }, items: [{ sku: 'tea' }] };
  const set = (...places: readonly string[]) => withPlaces(input, places);
  assert.deepEqual(set('/address/postalCode=10115', 'address.floor=3', 'items.0.sku=milk', 'note="x"'), {
    address: { postalCode: '10115', floor: 3 },
    items: [{ sku: 'milk' }],
    note: 'x',
  });
  assert.deepEqual(changedPlaces(input, set('address.floor=null')), ['address.floor: 2 becomes null']);
  for (const wrong of ['items.1.sku=x', 'items.x=1', 'nowhere.at=1', 'address.floor.x=1', 'address'])
    assert.throws(() => set(wrong), /--set|has no/, wrong);
});

test('the suggested field of an input is the one whose value or name the fault mentions, and never a masked secret', () => {
  const input = { card: '[secret]', items: [{ sku: 'tea' }], address: { city: 'Bremen', postalCode: '00000' } };
  assert.equal(likelyPlace(input, 'AddressInvalid No such postal code.'), 'address.postalCode');
  assert.equal(likelyPlace(input, 'AddressInvalid Bremen is not in Brandenburg.'), 'address.city');
  assert.equal(likelyPlace(input, 'CardDeclined The bank says no.'), 'items.0.sku');
  assert.deepEqual(
    [likelyPlace({ card: '[secret]' }, 'x'), likelyPlace(undefined, 'x'), likelyPlace('tea', 'x')],
    Array(3).fill(undefined),
  );
});
