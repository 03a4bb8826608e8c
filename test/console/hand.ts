import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';

const clicksMax = 6;

/** The hand of an operator. It counts each click and each press of a key that does something. Typed text does not count. */
export interface Hand {
  readonly click: (target: Locator) => Promise<void>;
  /** Types a text into a field, over the one that is there. A click counts, unless the field has the focus. */
  readonly type: (field: Locator, text: string) => Promise<void>;
  /** Chooses from a list: a click that opens it, and a second one. */
  readonly choose: (field: Locator, value: string) => Promise<void>;
  readonly press: (key: string) => Promise<void>;
  /** Prints the number of clicks. It fails if there were too many. */
  readonly done: (test: TestContext) => void;
}

export function handOn(page: Page): Hand {
  let clicks = 0;
  const click = async (target: Locator): Promise<void> => {
    clicks += 1;
    await target.click();
  };
  return {
    click,
    async type(field, text) {
      await field.waitFor();
      if (!(await field.evaluate((element) => element === element.ownerDocument.activeElement))) await click(field);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(text);
    },
    async choose(field, value) {
      clicks += 2;
      await field.selectOption(value);
    },
    async press(key) {
      clicks += 1;
      await page.keyboard.press(key);
    },
    done(test) {
      test.diagnostic(`${clicks} clicks`);
      assert.ok(clicks <= clicksMax, `${clicks} clicks are more than ${clicksMax}`);
    },
  };
}
