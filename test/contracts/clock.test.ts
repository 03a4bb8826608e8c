import assert from 'node:assert/strict';
import test from 'node:test';
import { type Clock, manualClock, systemClock } from '#ports/clock';

/** The promises of every clock that need no time to pass. */
function clockContract(name: string, clock: Clock): void {
  test(`${name}: now is a whole number of milliseconds since 1970, and does not go back`, () => {
    const [first, second] = [clock.now(), clock.now()];
    assert.ok(Number.isSafeInteger(first) && first > Date.UTC(2020, 0, 1));
    assert.ok(second >= first);
  });

  test(`${name}: a sleep ends at once when its signal aborts, and does not begin if the signal has aborted before`, async () => {
    const controller = new AbortController();
    const sleeping = clock.sleep(2 ** 40, controller.signal);
    controller.abort('enough');
    await sleeping;
    await clock.sleep(2 ** 40, controller.signal);
  });

  test(`${name}: a sleep longer than a timer's maximum does not end at once`, async () => {
    const controller = new AbortController();
    let awake = false;
    const sleeping = clock.sleep(2 ** 40, controller.signal).then(() => (awake = true));
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(awake, false);
    controller.abort();
    await sleeping;
  });
}

clockContract('the system clock', systemClock);
clockContract('a manual clock', manualClock());

test('the system clock: a sleep of zero milliseconds ends without further action', () => systemClock.sleep(0));

test('a manual clock stands still until a test advances it', async () => {
  const clock = manualClock(5_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(clock.now(), 5_000);
  await clock.advance(250);
  assert.equal(clock.now(), 5_250);
});

test('a manual clock wakes sleepers in the order of their times, each at its own time', async () => {
  const clock = manualClock(0);
  const woken: string[] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now()}`);
  };
  void sleep('late', 300);
  void sleep('early', 100);
  void sleep('first of two', 200);
  void sleep('second of two', 200);
  void sleep('never', 301);
  await clock.advance(300);
  assert.deepEqual(woken, ['early at 100', 'first of two at 200', 'second of two at 200', 'late at 300']);
});

test('a manual clock also wakes sleepers that start while it advances', async () => {
  const clock = manualClock(0);
  const woken: number[] = [];
  const loop = async () => {
    for (;;) {
      await clock.sleep(100);
      woken.push(clock.now());
    }
  };
  void loop();
  await clock.advance(350);
  assert.deepEqual([woken, clock.now()], [[100, 200, 300], 350]);
});

test('a manual clock drops sleepers whose signal aborted', async () => {
  const clock = manualClock(0);
  const controller = new AbortController();
  const sleeping = clock.sleep(100, controller.signal);
  controller.abort();
  await sleeping;
  await clock.advance(100);
  assert.equal(clock.now(), 100);
});

test('a manual clock advances to a new sleeper only after some turns of the event loop, and not beyond its limit', async () => {
  const clock = manualClock(0);
  const sleepsSoon = async (ms: number) => {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.sleep(ms);
  };
  void sleepsSoon(100);
  assert.deepEqual([await clock.next(), clock.now()], [true, 100]);
  void sleepsSoon(100);
  assert.deepEqual([await clock.nextBy(199), clock.now()], [false, 100]);
  assert.deepEqual([await clock.nextBy(200), clock.now()], [true, 200]);
  assert.deepEqual([await clock.next(), clock.now()], [false, 200]);
});
